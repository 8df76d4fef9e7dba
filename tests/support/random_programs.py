"""Random monomial programs, and a numerical optimum of them by another route.

The programs come in kinds that plant what pure chance seldom gives: an optimum that
exists, a point that is feasible whatever the parameters are, many bounds that compete,
a contradiction, a direction without bound. Duplicates, dominated constraints, and
equalities that depend on others are mixed in. `numeric_optimum` solves a program in
logarithms with HiGHS.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sp
from scipy.optimize import linprog

from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Constraint, Program, at_most, equals
from symscale.language.symbols import symbols

VARIABLES = symbols("T P b L N N_TP")
PARAMETERS = symbols("C W_net W_mem t_d tau b_0 L_0 T_0")
AT_LEAST_ONE = symbols("E")[0]
TWINS = symbols("d_model d_ff r_ff")
"""Parameters that only equalities contain that depend on others."""
ALPHA = symbols("alpha")[0]
ALPHAS = Interval(sp.Rational(-1, 4), sp.Rational(1, 2))
SLOPES = tuple(sp.Rational(*q) for q in ((1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (3, 2), (1, 3)))
WEIGHTS = tuple(sp.Rational(*q) for q in ((1, 1), (1, 1), (2, 1), (1, 2), (2, 3)))
NUMBERS = tuple(sp.Rational(*q) for q in ((1, 1), (1, 1), (2, 1), (1, 3), (6, 1), (5, 4), (1, 120)))
SLACKS = tuple(sp.Rational(*q) for q in ((1, 1), (1, 1), (1, 2), (1, 3), (3, 4)))
KINDS = ("bounded", *2 * ("planted", "packing"), "free", "contradiction", "unbounded")

Powers: TypeAlias = dict[sp.Symbol, Any]
Values: TypeAlias = Mapping[sp.Symbol, Any]
Twins: TypeAlias = tuple[sp.Symbol, int, sp.Symbol, int]
Row: TypeAlias = npt.NDArray[np.float64]
Outcome = Literal["optimal", "infeasible", "unbounded"]


@dataclass
class Relation:
    """A constraint in the making: number * variables * parameters <= or == 1."""

    variables: Powers
    parameters: Powers
    number: Any
    equality: bool = False

    def power(self, exponent: sp.Rational) -> "Relation":
        """The relation with both sides raised to a power."""
        return Relation(
            {s: e * exponent for s, e in self.variables.items()},
            {s: e * exponent for s, e in self.parameters.items()},
            self.number**exponent,
            self.equality,
        )

    def named(self, name: str, random: Random) -> Constraint:
        """The constraint, with its factors spread over both sides."""
        left: list[sp.Expr] = []
        right: list[sp.Expr] = []
        factors: list[tuple[Any, Any]] = [*self.variables.items(), *self.parameters.items()]
        for base, e in [*factors, (self.number, 1)]:
            if random.random() < 0.5:
                left.append(base**e)
            else:
                right.append(base**-e)
        make = equals if self.equality else at_most
        return make(name, sp.Mul(*left), sp.Mul(*right), "drawn at random")


@dataclass(frozen=True)
class Case:
    """A random program.

    Attributes:
        program: The program.
        kind: Its kind, one of `KINDS`.
        twins: What its equalities need in order to agree: the first parameter is to
            equal the number times the power of the second.
    """

    program: Program
    kind: str
    twins: tuple[Twins, ...] = field(default=())


def random_case(seed: int, *, exponent: bool = False) -> Case:
    """Draw a program of up to 6 variables and up to 14 constraints.

    With `exponent` it is smaller, and the symbol alpha stands in some of its exponents.
    """
    random = Random(seed)
    kind = random.choice(KINDS)
    variables = random.sample(VARIABLES, random.randint(1, 4 if exponent else 6))
    parameters = random.sample(PARAMETERS, random.randint(1, 5))
    domain = Domain()
    if random.random() < 0.25:
        parameters.append(AT_LEAST_ONE)
        domain = Domain((Monomial.of(AT_LEAST_ONE),))
    point = {x: _powers(random, parameters, 2) for x in variables}
    sense = random.choice((1, -1))
    least, most = {"unbounded": (1, 3), "packing": (3, 6)}.get(kind, (2, 10))
    most = min(most, 5) if exponent else most
    relations = [
        _relation(random, variables, parameters, point if kind == "planted" else None)
        for _ in range(random.randint(least, most))
    ]
    if kind == "packing":
        for relation in relations:
            relation.variables = {s: sense * abs(e) for s, e in relation.variables.items()}
            relation.equality = random.random() < 0.1
    if exponent:
        domain = Domain(domain.at_least_one, {ALPHA: ALPHAS})
        for relation in random.sample(relations, random.randint(1, min(2, len(relations)))):
            _grow(random, relation)
    twins = _disturb(random, relations, kind)
    objective = _objective(random, kind, relations, variables, sense)
    random.shuffle(relations)
    constraints = tuple(r.named(f"c{i}", random) for i, r in enumerate(relations))
    extra = _powers(random, parameters, 1)
    value = sp.Mul(random.choice(NUMBERS), *(s**e for s, e in [*objective.items(), *extra.items()]))
    random.shuffle(variables)
    program = Program(
        f"random-{seed}", "", "maximize" if sense > 0 else "minimize", Monomial.of(value),
        tuple(variables), constraints, domain,
    )  # fmt: skip
    return Case(program, kind, twins)


def _powers(random: Random, symbols: Sequence[sp.Symbol], most: int, least: int = 0) -> Powers:
    count = random.randint(min(least, len(symbols)), min(most, len(symbols)))
    chosen = random.sample(symbols, count)
    return {s: random.choice(SLOPES) * random.choice((1, -1)) for s in chosen}


def _relation(
    random: Random,
    variables: Sequence[sp.Symbol],
    parameters: Sequence[sp.Symbol],
    point: Mapping[sp.Symbol, Powers] | None,
) -> Relation:
    """Draw a relation, one that holds at `point` where that is given."""
    left = _powers(random, variables, 3, 1)
    equality = random.random() < 0.25
    if point is None:
        return Relation(left, _powers(random, parameters, 3), random.choice(NUMBERS), equality)
    at: Powers = {}
    for x, e in left.items():
        for s, inner in point[x].items():
            at[s] = at.get(s, sp.Integer(0)) - e * inner
    slack = sp.Integer(1) if equality else random.choice(SLACKS)
    return Relation(left, {s: e for s, e in at.items() if e}, slack, equality)


def _grow(random: Random, relation: Relation) -> None:
    """Add a multiple of alpha to an exponent, as in b <= b_0 (T/T_0)^alpha."""
    multiple = random.choice((1, -1, 2)) * ALPHA
    for table, sign in ((relation.variables, 1), (relation.parameters, -1)):
        if table:
            s = random.choice(list(table))
            table[s] += sign * multiple


def _disturb(random: Random, relations: list[Relation], kind: str) -> tuple[Twins, ...]:
    """Add duplicates, dominated and dependent relations, and contradictions."""
    twins: list[Twins] = []
    first = random.choice(relations)
    if random.random() < 0.2:
        relations.append(first.power(random.choice(WEIGHTS)))
    if random.random() < 0.2:
        weaker = random.choice([r for r in relations if not r.equality] or [first]).power(
            sp.Integer(1)
        )
        relations.append(
            Relation(weaker.variables, weaker.parameters, weaker.number / 2, equality=False)
        )
    equalities = [r for r in relations if r.equality]
    if len(equalities) >= 2 and random.random() < 0.5:
        product = combined(equalities[:2], [random.choice(WEIGHTS), -random.choice(WEIGHTS)])
        if random.random() < 0.5:
            one, other = random.sample(TWINS, 2)
            number, power = random.choice((1, 3)), random.choice((1, 2))
            product.parameters |= {one: sp.Integer(1), other: sp.Integer(-power)}
            product.number /= number
            twins.append((one, number, other, power))
        relations.append(product)
    if kind == "contradiction":
        back = first.power(-random.choice(WEIGHTS))
        back.equality = False
        if random.random() < 0.5:
            back.number *= 2
        else:
            back.parameters = dict(back.parameters)
            s = random.choice(PARAMETERS)
            back.parameters[s] = back.parameters.get(s, sp.Integer(0)) + random.choice(SLOPES)
        relations.append(back)
    return tuple(twins)


def combined(relations: Iterable[Relation], weights: Iterable[sp.Rational]) -> Relation:
    """The product of powers of equalities."""
    variables: Powers = {}
    parameters: Powers = {}
    number: Any = sp.Integer(1)
    for relation, weight in zip(relations, weights, strict=True):
        for table, more in (
            (variables, relation.variables), (parameters, relation.parameters)
        ):  # fmt: skip
            for s, e in more.items():
                table[s] = table.get(s, sp.Integer(0)) + e * weight
        number *= relation.number**weight
    return Relation(variables, parameters, number, equality=True)


def _objective(
    random: Random, kind: str, relations: list[Relation], variables: Sequence[sp.Symbol], sense: int
) -> Powers:
    """Draw an objective, one that the constraints bound unless the kind is free or unbounded."""
    if kind in ("free", "unbounded"):
        return _powers(random, variables, 2, 1)
    table: Powers = {}
    for relation in random.sample(relations, random.randint(1, min(4, len(relations)))):
        weight = random.choice(WEIGHTS)
        if relation.equality:
            weight *= random.choice((1, -1))
        for s, e in relation.variables.items():
            table[s] = table.get(s, sp.Integer(0)) + sense * weight * e
    return table


def random_values(random: Random, case: Case, *, agree: bool = True) -> dict[sp.Symbol, Any]:
    """Draw rational parameters in the program's domain; twins fit where `agree`."""
    values = {}
    for s in case.program.parameters:
        number = sp.Rational(random.randint(1, 60), random.randint(1, 20))
        values[s] = number * sp.Rational(10) ** random.randint(-3, 3)
        if s == AT_LEAST_ONE:
            values[s] = 1 + sp.Rational(random.randint(0, 80), 4)
    for s, interval in case.program.domain.exponents.items():
        if s in values:
            values[s] = interval.sample(sp.Rational(random.randint(1, 12), 13))
    if agree:
        for one, number, other, power in case.twins:
            values[one] = number * values[other] ** power
    return values


def numeric_optimum(program: Program, values: Values) -> tuple[Outcome, float]:
    """Solve a program at given parameters as a linear program in logarithms, with HiGHS.

    HiGHS may say that a program is infeasible or unbounded without saying which, so
    each is decided by a program of its own that has an optimum: feasibility by one
    with no objective, a free direction by one within a box.
    """
    sense = 1 if program.sense == "maximize" else -1
    goal, constant = _row(program.objective, program, values)
    rows = [(*_row(c.ratio, program, values), c.is_equality) for c in program.constraints]
    above = [(row, -rest) for row, rest, equality in rows if not equality]
    equal = [(row, -rest) for row, rest, equality in rows if equality]
    status, value = _linear(sense * goal, above, equal, None)
    if status == 0:
        return "optimal", sense * value + constant
    status, _ = _linear(0 * goal, above, equal, None)
    if status != 0:
        return "infeasible", math.nan
    status, gain = _linear(
        sense * goal, [(r, 0.0) for r, _ in above], [(r, 0.0) for r, _ in equal], 1.0
    )
    assert status == 0
    assert gain > 1e-7, "feasible, without a free direction, and yet without an optimum"
    return "unbounded", math.inf


def _row(monomial: Monomial, program: Program, values: Values) -> tuple[Row, float]:
    """The exponents of the variables, and the logarithm of the rest."""
    position: dict[Any, int] = {x: k for k, x in enumerate(program.variables)}
    row = np.zeros(len(position))
    rest = 0.0
    numbers: dict[Any, Any] = dict(values)
    for atom, e in monomial.powers:
        exponent = float(e.subs(numbers) if e.free_symbols else e)
        if atom in position:
            row[position[atom]] = exponent
        else:
            rest += exponent * _log(numbers.get(atom, atom))
    return row, rest


def _log(number: Any) -> float:
    value = Fraction(int(number.p), int(number.q))
    return math.log(value.numerator) - math.log(value.denominator)


def _linear(
    goal: Row,
    above: Sequence[tuple[Row, float]],
    equal: Sequence[tuple[Row, float]],
    box: float | None,
) -> tuple[int, float]:
    """Maximise; return HiGHS's status and the value."""
    result = linprog(
        -goal,
        A_ub=np.array([r for r, _ in above]) if above else None,
        b_ub=np.array([v for _, v in above]) if above else None,
        A_eq=np.array([r for r, _ in equal]) if equal else None,
        b_eq=np.array([v for _, v in equal]) if equal else None,
        bounds=(None, None) if box is None else (-box, box),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return int(result.status), -float(result.fun) if result.status == 0 else math.nan
