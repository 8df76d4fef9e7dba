"""Rewrites of formulas, each with its reason and its region."""
