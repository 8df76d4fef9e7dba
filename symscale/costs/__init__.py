"""Costs of networks as SymPy expressions, derived from contractions.

`cost` an expression with its unit; `collectives` what they move; `contraction` the one
rule for parallelism; `pipeline` stages and bubbles; `times` costs over rates; `memory`
bytes of a parameter and of a device; `model` what a study asks of a model, whichever it
is; `sparse_mlp` the block of the data-movement study; `transformer` every other model.
"""
