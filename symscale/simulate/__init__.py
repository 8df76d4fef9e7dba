"""The complete model: what one plan on one cluster achieves, and the best plan.

`device` times a matrix product; `network` transfers; `step` a step and its memory.
Each is one symbolic expression, printed and, by `compiled`, computed. It never imports
the solver of closed forms, so that agreement between the two is evidence.
"""
