"""Exact algebra of monomial programs: it knows nothing of machines or models.

`monomial` products of powers; `domain` where parameters live; `program` an
objective under named constraints; `cone` and `simplex` the two exact engines;
`loglinear` the solver; `limit` its answer; `certificate` the independent checker.
"""
