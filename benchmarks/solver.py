"""Time of the exact solver on random programs with many pieces, beside that of a convex solver.

Times are CPU seconds and, so that machines can be compared, multiples of the time
that the study `training-limits` takes in the same run: of the pieces, for all parameters; of
one region, which is made when it is read; and of HiGHS, for one choice of the parameters.
"""

import random
import time

import sympy as sp
from scipy.optimize import linprog

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.program import Program, at_most
from symscale.algebra.products.solve import solve
from symscale.errors import TooLargeError
from symscale.language.symbols import NOTATION, symbol
from symscale.studies.training.limits import limits_program

SIZES = ((6, 14, 3), (8, 20, 3), (10, 24, 1), (20, 50, 1))  # the last: how many are drawn


def random_program(variables: int, constraints: int, rng: random.Random) -> Program:
    """Return a program with many pieces: two to four variables in each constraint.

    The objective is a product of a third of what the constraints bound, so that it is
    bounded in many ways; each bound is a parameter of its own.
    """
    symbols = [symbol(n) for n, e in NOTATION.items() if not e.exponent]
    unknowns, parameters = symbols[:variables], symbols[variables:]
    rows = []
    for k in range(constraints):
        left = ONE
        for s in rng.sample(unknowns, rng.randint(2, min(4, variables))):
            left = left * Monomial.of(s) ** sp.Integer(rng.choice((1, 1, 1, 2)))
        rows.append(at_most(f"c{k}", left, Monomial.of(parameters[k]), "random"))
    objective = ONE
    for constraint in rng.sample(rows, constraints // 3):
        objective = objective * constraint.lhs
    return Program("random", "", "maximize", objective, tuple(unknowns), tuple(rows), Domain())


def timed(program: Program) -> tuple[float, Limit]:
    """CPU time of solving a program, and its limit."""
    start = time.process_time()
    result = solve(program)
    return time.process_time() - start, result


def timed_number(program: Program) -> float:
    """CPU time of a convex solver, HiGHS, for one choice of all parameters."""
    matrix = [[float(c.ratio.exponent(x)) for x in program.variables] for c in program.constraints]
    goal = [-float(program.objective.exponent(x)) for x in program.variables]
    start = time.process_time()
    found = linprog(goal, A_ub=matrix, b_ub=[1.0] * len(matrix), bounds=(None, None))
    assert found.status == 0  # noqa: S101
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    rng = random.Random(1)
    folded = {symbol(n): sp.Integer(v) for n, v in
              {"alpha": 0, "alpha_L": 0, "r_D": 20, "r_ff": 4}.items()}
    studies = {
        "training-limits, alpha = 0": limits_program().substitute(folded),
        "training-limits, alpha symbolic": limits_program(),
        "training-limits --full": limits_program(full=True).substitute(folded),
    }
    solve(studies["training-limits, alpha = 0"])
    reference, _ = timed(studies["training-limits, alpha = 0"])
    print(f"{'program':<32}{'pieces':>8}{'CPU s':>9}{'ratio':>9}{'regions':>9}{'numbers':>9}")
    for name, program in studies.items():
        seconds, limit = timed(program)
        _row(name, limit, seconds, reference, None)
    timed_number(random_program(6, 14, rng))  # loads SciPy
    for variables, constraints, draws in SIZES:
        name = f"{variables} variables, {constraints} constraints"
        for _ in range(draws):
            program = random_program(variables, constraints, rng)
            start = time.process_time()
            try:
                seconds, limit = timed(program)
            except TooLargeError as error:
                ratio = (time.process_time() - start) / reference
                print(f"{name:<32}stopped at a ratio of {ratio:.0f}: {error}")
                continue
            _row(name, limit, seconds, reference, timed_number(program))


def _row(name: str, limit: Limit, seconds: float, reference: float, number: float | None) -> None:
    """Print a row: the solver, one region on average, the convex solver for one point."""
    start = time.process_time()
    some = limit.pieces[:5]
    for piece in some:
        _ = piece.region
    region = (time.process_time() - start) / max(1, len(some)) / reference
    columns = f"{len(limit.pieces):>8}{seconds:>9.3f}{seconds / reference:>9.2f}{region:>9.2f}"
    print(f"{name:<32}{columns}{'' if number is None else f'{number / reference:>9.2f}'}")


if __name__ == "__main__":
    main()
