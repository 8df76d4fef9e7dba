"""Costs of networks as SymPy expressions, derived from contractions.

`cost` an expression with its unit; `collectives` what they move; `contraction`
the one rule; `plan` the parallel degrees; `pipeline` stages and bubbles;
`sparse_mlp` the block of the data-movement study.
"""
