"""Certificates of optima that are known: what makes them; the kernel checks them."""
