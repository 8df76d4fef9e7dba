"""Time of the exact solver on random sparse programs of growing size.

Times are CPU seconds and, so that machines can be compared, multiples of the time
that the study `training-limits` takes in the same run.
"""

import random
import time

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.program import Program, at_most
from symscale.algebra.products.solve import solve
from symscale.errors import TooLargeError
from symscale.language.symbols import NOTATION, symbol
from symscale.studies.training.limits import limits_program

SIZES = ((3, 6), (6, 14), (8, 18), (10, 24), (12, 30))
MAX_RAYS = 60_000


def random_program(variables: int, constraints: int, rng: random.Random) -> Program:
    """Return a bounded sparse program: two to four variables in each constraint."""
    symbols = [symbol(n) for n, e in NOTATION.items() if not e.exponent]
    unknowns, parameters = symbols[:variables], symbols[variables:]
    rows = []
    for k in range(constraints):
        chosen = rng.sample(unknowns, rng.randint(2, min(4, variables)))
        left = ONE
        for s in chosen:
            left = left * Monomial.of(s) ** sp.Integer(rng.choice((-1, 1, 1, 2)))
        right = Monomial.of(parameters[k % len(parameters)])
        rows.append(at_most(f"c{k}", left, right, "random"))
    objective = Monomial.of(unknowns[0])
    return Program("random", "", "maximize", objective, tuple(unknowns), tuple(rows), Domain())


def timed(program: Program) -> tuple[float, Limit]:
    """CPU time of solving a program, and its limit."""
    start = time.process_time()
    result = solve(program, max_rays=MAX_RAYS)
    return time.process_time() - start, result


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
    print(f"{'program':<36}{'pieces':>8}{'conditions':>12}{'CPU s':>9}{'ratio':>9}")
    for name, program in studies.items():
        seconds, limit = timed(program)
        _row(name, len(limit.pieces), len(limit.feasibility), seconds, reference)
    for variables, constraints in SIZES:
        times, pieces, conditions, gave_up = [], 0, 0, 0
        for _ in range(5):
            program = random_program(variables, constraints, rng)
            try:
                seconds, limit = timed(program)
            except TooLargeError:
                gave_up += 1
                continue
            times.append(seconds)
            pieces = max(pieces, len(limit.pieces))
            conditions = max(conditions, len(limit.feasibility))
        name = f"{variables} variables, {constraints} constraints"
        if times:
            _row(name, pieces, conditions, sorted(times)[len(times) // 2], reference)
        if gave_up:
            print(f"{name}: {gave_up} of 5 needed more than {MAX_RAYS} rays")


def _row(name: str, pieces: int, conditions: int, seconds: float, reference: float) -> None:
    ratio = seconds / reference
    print(f"{name:<36}{pieces:>8}{conditions:>12}{seconds:>9.3f}{ratio:>9.2f}")


if __name__ == "__main__":
    main()
