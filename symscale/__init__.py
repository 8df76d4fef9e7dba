"""symscale: closed-form limits of training at scale, derived, proved and printed.

Start with `symscale.studies.training.answer` (questions with answers), `symscale.algebra`
(monomial programs of your own) or `symscale.costs` (what a model costs). Nothing
heavy is imported here.
"""

__version__ = "0.1.0"
