"""Problems of tests/data/problems with numbers at which they have optima, and parameters near."""

import math
from pathlib import Path
from random import Random

import sympy as sp

from symscale.algebra.sums.program import GeometricProgram
from symscale.problems.file import load_problem

PROBLEMS = Path(__file__).parents[1] / "data" / "problems"
_FEASIBLE = {"h-infer2": {"q": "3/10000"}, "x-strong": {"eps": "1/2"}}
Values = dict[sp.Symbol, sp.Rational]


def case(name: str) -> tuple[GeometricProgram, Values]:
    """A problem and numbers of its parameters at which it has an optimum."""
    problem = load_problem(str(PROBLEMS / f"{name}.toml"))
    given = _FEASIBLE.get(name, {})
    values: Values = {
        q.symbol: sp.Rational(given[q.entry.name]) if q.entry.name in given else q.default
        for q in problem.parameters if q.default is not None
    }
    program = problem.program({s: v for s, v in values.items() if s in problem.exponents})
    return program, {s: values[s] for s in program.parameters}


def moved(values: Values, factor: float, random: Random) -> Values:
    """Each parameter times anything between one over the factor and the factor."""
    reach = math.log(factor)
    return {
        s: sp.Rational(f"{float(v) * math.exp(random.uniform(-reach, reach)):.9g}")
        for s, v in values.items()
    }
