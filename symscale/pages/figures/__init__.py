"""Plots: what each shows, and the one module that draws."""
