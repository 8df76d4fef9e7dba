"""Parameters at which sums are above zero: where a closed form of sums rules."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import numpy as np
import sympy as sp

from symscale.algebra.exact.combinations import Terms, exceeds_zero
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.values import signed_terms
from symscale.errors import FormulaError, InfeasibleError, NoAnswerError

_TRIALS = 30  # points tried before anything is searched for
_REACHES = (0.3, 1.0, 3.0)  # decades of each parameter, up and down
_BOX = 10**6  # parameters that are searched for lie between one over it and it
_CHOICES = 64
_DIGITS = (3, 8, 15)
_POINTS = 3000  # tried; the best are improved
_SPANS = (1.0, 3.0, 7.0)  # natural logarithms of parameters that they reach
_CLIMBS, _STEPS = 6, 25
_AMPLE = 0.5  # a margin that needs no improvement
_FAR = 30.0  # natural logarithms of parameters stay within it

Values = Mapping[sp.Symbol, sp.Rational]


def sum_witness(
    conditions: Sequence[Terms], atoms: Sequence[Monomial], program: GeometricProgram
) -> tuple[dict[sp.Symbol, sp.Rational] | None, bool]:
    """Find parameters at which every sum is strictly above zero.

    A few points are tried, then one is searched for by steps that raise the least margin.
    Where that finds none, each sum of k positive terms is replaced by k times one of them:
    that is convex in logarithms and asks for less, so that there are no parameters if none
    satisfy this, whatever terms are chosen.

    Args:
        conditions: The sums.
        atoms: Monomials that must be defined and positive there.
        program: The program, with its parameters and their domain.

    Returns:
        The parameters, or None; and whether the search says that there are none.

    Example:
        >>> from symscale.algebra.exact.monomial import ONE
        >>> from symscale.language.symbols import symbols
        >>> x, a = symbols("N J")
        >>> program = GeometricProgram((x,), (Monomial.of(a*x),), (), Domain())
        >>> one = sp.Integer(1)
        >>> sum_witness([((one, Monomial.of(a)), (-7*one, ONE))], [], program)[0][a] > 7
        True
    """
    parameters = program.parameters
    known = set(parameters) | set(program.domain.exponents)
    bounds = [m for m in program.domain.at_least_one if m.free_symbols <= known]
    conditions = [_collected(terms) for terms in conditions]
    if any(all(c.is_negative for c, _ in terms) for terms in conditions):
        return None, True

    def inside(values: Values) -> bool:
        return _holds(conditions, atoms, bounds, values)

    for values in islice(_spread(program, parameters), _TRIALS):
        if inside(values):
            return values, False
    sample = program.domain.sample()
    free = [s for s in parameters if s not in sample]
    one = sp.Integer(1)
    needed: list[Terms] = [((one, m), (-one, ONE)) for m in bounds]
    needed += [signed_terms(a) for m in atoms for a in m.atoms if a.is_Add]
    for point in greatest_margins([*conditions, *needed], free, sample):
        for digits in _DIGITS:
            values = _rounded(point, digits, sample, parameters)
            if inside(values):
                return values, False
    if any(not a.is_Symbol for terms in conditions for _, m in terms for a in m.atoms):
        return None, False
    if math.prod(sum(1 for c, _ in terms if c > 0) for terms in conditions) > _CHOICES:
        return None, False
    nowhere = True
    for chosen in _convex(conditions):
        try:
            deepest = _deepest(chosen, bounds, free, sample)
        except NoAnswerError:
            deepest, nowhere = None, False
        if deepest is None:
            continue
        nowhere = False
        for digits in _DIGITS:
            values = _rounded(deepest, digits, sample, parameters)
            if inside(values):
                return values, False
    return None, nowhere and not sample


def _collected(terms: Terms) -> Terms:
    """A sum with equal monomials gathered."""
    table: dict[Monomial, sp.Expr] = {}
    for c, m in terms:
        table[m] = table.get(m, sp.Integer(0)) + c
    return tuple((c, m) for m, c in table.items() if c != 0)


def _rounded(
    point: Mapping[sp.Symbol, float], digits: int, sample: Values, parameters: Sequence[sp.Symbol]
) -> dict[sp.Symbol, sp.Rational]:
    values = {s: sp.Rational(f"{x:.{digits}g}") for s, x in point.items()} | dict(sample)
    return {s: v for s, v in values.items() if s in parameters}


def _holds(
    conditions: Sequence[Terms], atoms: Sequence[Monomial], bounds: Sequence[Monomial],
    values: Values,
) -> bool:
    try:
        return (
            all(m.compare_one(values) >= 0 for m in bounds)
            and all(exceeds_zero(terms, values) for terms in conditions)
            and all(m.evaluate(values) > 0 for m in atoms)
        )
    except FormulaError:
        return False  # a coefficient is not positive there


def _spread(
    program: GeometricProgram, parameters: Sequence[sp.Symbol]
) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    """Points spread evenly: fractional parts of multiples of roots of primes."""
    roots = [math.sqrt(int(sp.prime(k))) for k in range(1, len(parameters) + 1)]
    sample = {s: v for s, v in program.domain.sample().items() if s in parameters}
    trial = 0
    while True:
        trial += 1
        reach = _REACHES[trial % len(_REACHES)]
        values = {}
        for s, root in zip(parameters, roots, strict=True):
            decades = reach * (2 * math.fmod(trial * root, 1.0) - 1)
            values[s] = sp.Rational(f"{10**decades:.3g}")
        yield values | sample


def _convex(conditions: Sequence[Terms]) -> Iterator[list[tuple[Monomial, ...]]]:
    """Each choice of one positive term a sum, as sums of monomials that are to be below 1.

    The term counts as often as there are positive ones, so that no parameters are lost.
    """
    options = []
    for terms in conditions:
        above = [_scaled(c, m) for c, m in terms if c > 0]
        below = [_scaled(-c, m) for c, m in terms if c < 0]
        count = Monomial.of(len(above))
        options.append([tuple(b / (a * count) for b in below) for a in above])
    for choice in product(*options):
        yield [terms for terms in choice if terms]


def _scaled(number: sp.Expr, monomial: Monomial) -> Monomial:
    return monomial * Monomial.of(number)


def _deepest(
    sums: Sequence[tuple[Monomial, ...]],
    bounds: Sequence[Monomial],
    parameters: Sequence[sp.Symbol],
    sample: Values,
) -> dict[sp.Symbol, float] | None:
    """The parameters with the least greatest sum, if that is below 1.

    Raises:
        NoAnswerError: If the search does not converge.
    """
    from symscale.algebra.sums.numeric import minimize

    slack = sp.Dummy("slack", positive=True)
    size = Monomial.of(slack)
    constraints = [
        SumConstraint(f"{k}", tuple(t.substitute(sample) / size for t in terms), "<=", "")
        for k, terms in enumerate(sums)
    ]
    constraints += [
        SumConstraint(f"least {k}", (m.substitute(sample) ** -1,), "<=", "")
        for k, m in enumerate(bounds)
    ]
    box = Monomial.of(_BOX)
    for x in map(Monomial.of, parameters):
        constraints += [
            SumConstraint(f"{x} {side}", (x**power / box,), "<=", "")
            for side, power in (("below", 1), ("above", -1))
        ]
    constraints.append(SumConstraint("margin", (Monomial.of(sp.Rational(1, 2)) / size,), "<=", ""))
    search = GeometricProgram((slack, *parameters), (size,), tuple(constraints), Domain())
    try:
        found = minimize(search, {})
    except InfeasibleError:
        return None
    if found.value > 1 - 1e-9:
        return None
    return {s: found.point[s] for s in parameters}


def greatest_margins(
    conditions: Sequence[Terms], parameters: Sequence[sp.Symbol], given: Values
) -> Iterator[dict[sp.Symbol, float]]:
    """Parameters at which all sums are above zero, by margins that a search made large.

    The margin of a sum is the logarithm of its positive terms over its negative ones. Of
    many points the best are improved: each step raises the least margin as far as the
    margins' slopes say, in a linear program.

    Args:
        conditions: The sums; sums within them have to be among them.
        parameters: What is searched for.
        given: Values of exponent symbols.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> a, b = symbols("J K")
        >>> one = sp.Integer(1)
        >>> sums = [((one, Monomial.of(a)), (-one, Monomial.of(b)), (-one, Monomial.of(a*b)))]
        >>> point = next(greatest_margins(sums, (a, b), {}))
        >>> point[a] > point[b] + point[a]*point[b]
        True
    """
    count = len(parameters)
    if not count:
        return
    margins = _Margins(conditions, parameters, given)
    spread = np.random.default_rng(0).uniform(-1.0, 1.0, (_POINTS, count))
    spread *= np.repeat(_SPANS, -(-_POINTS // len(_SPANS)))[:_POINTS, None]
    least = margins.least(spread.T)
    for k in np.argsort(-least)[:_CLIMBS]:
        x = margins.nearer(margins.climbed(spread[k]))
        if margins.least(x[:, None])[0] > 0:
            yield {s: float(np.exp(v)) for s, v in zip(parameters, x, strict=True)}


class _Margins:
    """How far sums are above zero, in logarithms of parameters; a column is a point."""

    def __init__(
        self, conditions: Sequence[Terms], parameters: Sequence[sp.Symbol], given: Values
    ) -> None:
        self._rows = dict(zip(parameters, range(len(parameters)), strict=True))
        self._given: dict[Any, sp.Rational] = dict(given)
        self._conditions = [c for c in conditions if any(q.xreplace(dict(given)) < 0 for q, _ in c)]

    def least(self, x: np.ndarray) -> np.ndarray:
        """The least margin at each point; a sum that is not defined there does not count."""
        found = self.of(x)
        return np.min(np.nan_to_num(found, nan=np.inf), axis=0, initial=_SPANS[-1])

    def of(self, x: np.ndarray) -> np.ndarray:
        """The margin of each sum at each point."""
        known: dict[Any, np.ndarray] = {}
        return np.array([np.subtract(*self._sides(c, x, known)) for c in self._conditions])

    def climbed(self, x: np.ndarray) -> np.ndarray:
        """A point of greater least margin."""
        from scipy.optimize import linprog  # takes a second to import

        n, reach = len(x), 2.0
        best = self.least(x[:, None])[0]
        for _ in range(_STEPS):
            if reach < 1e-3 or best >= _AMPLE:
                break
            around = self.of(np.column_stack([x, x[:, None] + 1e-6 * np.eye(n)]))
            rows = np.isfinite(around).all(axis=1)
            values, slopes = around[rows, 0], (around[rows, 1:] - around[rows, :1]) / 1e-6
            # value + slope*d >= s, and s is to be as large as possible
            found = linprog(
                [0.0] * n + [-1.0], np.column_stack([-slopes, np.ones(len(values))]), values,
                bounds=[(max(-reach, -_FAR - v), min(reach, _FAR - v)) for v in x] + [(None, None)],
            )
            if found.x is None:
                break
            moved = x + found.x[:n]
            better = self.least(moved[:, None])[0]
            if better > best + 1e-9:
                x, best = moved, better
            else:
                reach /= 4
        return x

    def nearer(self, x: np.ndarray) -> np.ndarray:
        """A point between the middle and this one that is not much worse."""
        scaled = np.outer(x, np.linspace(0.05, 1.0, 20))
        least = self.least(scaled)
        return np.asarray(scaled[:, int(np.argmax(least >= least[-1] / 2))])

    def _sides(
        self, terms: Terms, x: np.ndarray, known: dict[Any, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The logarithms of the positive and of the negative terms."""
        sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for c, m in terms:
            number = float(c.xreplace(self._given))
            if number:
                sides[number < 0].append(np.log(abs(number)) + self._log(m, x, known))
        above, below = (
            np.logaddexp.reduce(np.array(side)) if side else np.full(x.shape[1], -np.inf)
            for side in sides
        )
        return above, below

    def _log(self, monomial: Monomial, x: np.ndarray, known: dict[Any, np.ndarray]) -> np.ndarray:
        total = np.zeros(x.shape[1])
        for atom, exponent in monomial.powers:
            if atom not in known:
                known[atom] = self._atom(atom, x, known)
            total = total + float(exponent.xreplace(self._given)) * known[atom]
        return total

    def _atom(self, atom: Any, x: np.ndarray, known: dict[Any, np.ndarray]) -> np.ndarray:
        if atom in self._rows:
            return np.asarray(x[self._rows[atom]])
        if not atom.is_Add:
            return np.full(x.shape[1], float(sp.log(atom.xreplace(self._given)).evalf(20)))
        above, below = self._sides(signed_terms(atom), x, known)
        with np.errstate(invalid="ignore"):
            return np.where(above > below, above + np.log1p(-np.exp(below - above)), np.nan)
