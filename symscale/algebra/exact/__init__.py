"""Exact numbers: monomials, signs, domains, linear programs, cones."""
