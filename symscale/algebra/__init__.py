"""Exact algebra of monomial programs: it knows nothing of machines or models.

`monomial` products of powers (`primes` their numbers); `domain` where parameters
live; `program` an objective under named constraints; `rewrite` steps towards it.

The solver: `scalars` what it computes with, `elimination` equalities out, `cone`
double description, `simplex` exact linear programs, `regions` where a piece rules,
`loglinear` the whole; `limit` its answer, `points` where it is attained,
`certificate` the independent checker.

Sums: `signs` of coefficients, `posynomial` the canonical form, `geometric` and
`stationary` closed forms, `bounds` where there are none, `numeric` the optimum by
another road.

Growth: `quotient` sums over sums in factors, `growth` which products outgrow which,
`orders` classes of growth, `leading` and `behaviour` of a quotient, `crossing` where
an open exponent changes it, `asymptotics` the whole.
"""
