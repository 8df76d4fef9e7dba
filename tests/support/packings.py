"""Programs with many pieces: the largest of a product of what several constraints bound."""

from random import Random

import sympy as sp

from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.program import Program, at_most
from symscale.language.symbols import NOTATION, symbol


def packing(
    variables: int, constraints: int, seed: int, numbers: bool = False,
    parameters: int | None = None,
) -> Program:
    """Draw a program: two to four variables in each constraint, a third of them in the objective.

    Args:
        variables: How many variables.
        constraints: How many constraints.
        seed: Of the draw.
        numbers: Whether bounds have numbers as factors.
        parameters: How many parameters bound, if not one for each constraint.
    """
    random = Random(seed)
    symbols = [symbol(n) for n, e in NOTATION.items() if not e.exponent]
    unknowns, bounds = symbols[:variables], symbols[variables:][: parameters or constraints]
    rows = []
    for k in range(constraints):
        left = ONE
        for s in random.sample(unknowns, random.randint(2, min(4, variables))):
            left = left * Monomial.of(s) ** sp.Integer(random.choice((1, 1, 1, 2)))
        right = Monomial.of(bounds[k % len(bounds)])
        if numbers:
            right = right * Monomial.of(random.choice((1, 2, 3, 5, 6)))
        rows.append(at_most(f"c{k}", left, right, "drawn at random"))
    objective = ONE
    for constraint in random.sample(rows, max(2, constraints // 3)):
        objective = objective * constraint.lhs
    return Program("packing", "", "maximize", objective, tuple(unknowns), tuple(rows))
