"""Operators: what each does, how it is timed here, and formulas fitted to its times."""
