"""Exact algebra of programs and of growth: it knows nothing of machines or models.

`exact` monomials, signs and linear programs; `products` programs of products of powers and
their closed-form limits; `sums` programs with sums; `rewrites` steps of derivations;
`growth` how quotients of sums behave along a path. What checks their proofs is in
`symscale.kernel`.
"""
