"""The complete model: what one plan on one cluster achieves, and the best plan.

`sparse_mlp` and `transformer` a step, its time and the search over plans of either;
`tables` curves and plans as tables; `compiled` symbolic expressions as NumPy. It never
imports the solver of closed forms, so that agreement between the two is evidence.
"""
