"""Products of powers that bound an optimum for all parameters, and the numbers that decide it."""
