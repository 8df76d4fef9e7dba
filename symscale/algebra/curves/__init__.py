"""Optima that one share decides: what is left where the degree of difficulty is 1."""
