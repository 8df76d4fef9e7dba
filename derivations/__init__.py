"""Worked derivations: each file one argument from assumptions to a result."""
