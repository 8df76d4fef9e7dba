"""Points at which given monomials exceed 1: where a piece rules, exactly verified."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import mpmath as mp
import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError

_REACHES = (4, 40, 400)
_PROJECTIONS = 300
_MARGIN, _CLEAR = 0.5, 1e-6
_FARTHEST = 200.0
_NOTHING = Fraction(1, 10**20)
_ROUNDING = Fraction(1, 10**35)
_TRIALS = 100  # numbers that symbols within sums are given
_DECADES = (0.3, 1.0, 2.0, 4.0)
_SAMPLES = tuple(sp.Rational(k, 7) for k in (3, 1, 5, 2, 6))


def logarithm(monomial: Monomial) -> Fraction:
    """The logarithm of a number given as a monomial, to about 40 digits.

    That of a product of powers is exactly the sum of theirs: what is consistent
    between numbers stays so between their logarithms.
    """
    return sum((_exact(e) * _logarithm(a) for a, e in monomial.powers), Fraction(0))


@lru_cache(maxsize=4096)
def _logarithm(atom: sp.Expr) -> Fraction:
    with mp.workdps(60):
        value = mp.log(int(atom) if atom.is_Integer else mp.mpf(sp.N(atom, 60)._mpf_))
        return Fraction(int(mp.nint(value * mp.mpf(10) ** 40)), 10**40)


def find_witness(
    strict: Sequence[Monomial],
    weak: Sequence[Monomial],
    parameters: Iterable[sp.Symbol],
    domain: Domain,
) -> tuple[dict[sp.Symbol, sp.Rational] | None, bool]:
    """Find parameters at which every strict monomial exceeds 1 and every weak one is >= 1.

    Returns:
        The point, or None; and whether "None" is proven (the monomials have no exponent
        symbols, so that one linear program decides, to which compound atoms are unknowns).
    """
    exponents = sorted(
        set().union(*(m.exponent_symbols for m in [*strict, *weak]), domain.exponents), key=str
    )
    names = [p for p in parameters if p not in exponents]
    compound: set[Any] = set().union(
        *(a.free_symbols for m in [*strict, *weak] for a in m.atoms if not a.is_Symbol)
    )
    positions = _SAMPLES if exponents else _SAMPLES[:1]
    none_exists = True
    for position in positions:
        sample = {s: v for s, v in domain.sample(position).items() if s in exponents}
        at = [m.substitute(sample) if sample else m for m in strict]
        given = [m.substitute(sample) if sample else m for m in weak]
        found, none_here = _at_sample(at, given, names)
        if found is not None and compound:
            found = _around_sums(at, given, names, sorted(compound - set(sample), key=str))
        if found is not None:
            return {**found, **sample}, True
        none_exists = none_exists and none_here
    symbolic = any(m.exponent_symbols for m in [*strict, *weak])
    return None, none_exists and not symbolic


def _around_sums(
    strict: Sequence[Monomial], weak: Sequence[Monomial], names: Sequence[sp.Symbol],
    inside: Sequence[sp.Symbol],
) -> dict[sp.Symbol, sp.Rational] | None:
    """A point: numbers for the symbols within sums are tried, the others are searched for."""
    roots = [math.sqrt(int(sp.prime(k))) for k in range(1, len(inside) + 1)]
    rest = [s for s in names if s not in inside]
    for trial in range(1, _TRIALS):
        reach = _DECADES[trial % len(_DECADES)]
        spread = (reach * (2 * math.fmod(trial * root, 1.0) - 1) for root in roots)
        values = {
            s: sp.Rational(f"{10**x:.3g}") for s, x in zip(inside, spread, strict=True)
        }
        try:
            at, given = ([m.substitute(values) for m in ms] for ms in (strict, weak))
        except FormulaError:  # a sum is not positive there
            continue
        found, _ = _at_sample(at, given, rest)
        if found is not None:
            return {**found, **values}
    return None


def impossible(
    strict: Sequence[Monomial],
    weak: Sequence[Monomial],
    domain: Domain,
    *,
    weak_too: bool = False,
) -> bool:
    """Whether it is proven that no strict monomial can exceed 1 where the weak ones are >= 1.

    Sums among the atoms count as independent, which only makes more possible. Without
    strict monomials `weak_too` asks whether the weak ones can hold together.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> a, b = (Monomial.of(s) for s in symbols("J K"))
        >>> impossible([a/b, b/a], [], Domain()), impossible([a/b], [a], Domain())
        (True, False)
    """
    monomials = [*strict, *weak]
    if domain.exponents and any(m.exponent_symbols for m in monomials):
        return False
    atoms: list[Any] = list(dict.fromkeys(a for m in monomials for a in m.atoms))
    if weak_too and not strict:
        strict = [Monomial.of(2)]
    return _widest(strict, weak, atoms, False, None) is None


def _at_sample(
    strict: Sequence[Monomial], weak: Sequence[Monomial], names: Sequence[sp.Symbol]
) -> tuple[dict[sp.Symbol, sp.Rational] | None, bool]:
    """The point, or None; and whether none exists, rather than none was found.

    A point may exist and have no rational parameters near it: where the weak
    monomials leave a curve only.
    """
    atoms: list[Any] = list(names)
    atoms += [a for m in [*strict, *weak] for a in m.atoms if a not in atoms]
    atoms = list(dict.fromkeys(atoms))
    guess = _guess(strict, weak, atoms)
    if guess is not None:
        return guess, False
    if _widest(strict, weak, atoms, False, None) is None:
        return None, True
    for margin_for_weak, reach in product((True, False), _REACHES):
        point = _widest(strict, weak, atoms, margin_for_weak, reach)
        if point is None:
            continue
        if any(not a.is_Symbol for a in atoms):
            return {}, False  # there is one if sums may be what they like
        for digits in (3, 8, 16, 30):
            values = dict(zip(atoms, (_exponential(x, digits) for x in point), strict=True))
            if all(m.compare_one(values) > 0 for m in strict) and all(
                m.compare_one(values) >= 0 for m in weak
            ):
                return values, False
    return None, False


def _guess(
    strict: Sequence[Monomial], weak: Sequence[Monomial], atoms: Sequence[Any]
) -> dict[sp.Symbol, sp.Rational] | None:
    """A point found cheaply, by projecting onto one violated condition after the other.

    It is in floating point, but a point is returned only if it exceeds every monomial's
    logarithm by far more than rounding, so that it is right; None says nothing.
    """
    if any(not a.is_Symbol for a in atoms):
        return None
    places = {a: k for k, a in enumerate(atoms)}
    rows = []
    for monomial in [*strict, *weak]:
        row = [(places[a], float(e)) for a, e in monomial.powers if a in places]
        norm = sum(e * e for _, e in row)
        if norm:
            rows.append((row, float(logarithm(monomial.coefficient)), norm))
        elif monomial.compare_one() < (1 if monomial in strict else 0):
            return None
    point = _projected(rows, len(atoms))
    if not all(abs(x) < _FARTHEST for x in point):
        return None
    values = [f"{math.exp(x):.4g}" for x in point]
    logs = [math.log(float(v)) for v in values]
    if not all(_clearly_above(row, constant, logs) for row, constant, _ in rows):
        return None
    return {a: sp.Rational(v) for a, v in zip(atoms, values, strict=True)}


_Row: TypeAlias = list[tuple[int, float]]


def _projected(rows: Sequence[tuple[_Row, float, float]], size: int) -> list[float]:
    """A point that is moved, again and again, onto the condition it violates most."""
    point = [0.0] * size
    for _ in range(_PROJECTIONS):
        worst, gap = None, _MARGIN
        for row, constant, norm in rows:
            value = constant + sum(e * point[k] for k, e in row)
            if value < gap:
                worst, gap = (row, norm), value
        if worst is None:
            break
        row, norm = worst
        for k, e in row:
            point[k] += e * (2 * _MARGIN - gap) / norm
    return point


def _clearly_above(row: _Row, constant: float, logs: Sequence[float]) -> bool:
    terms = [constant, *(e * logs[k] for k, e in row)]
    return sum(terms) >= _CLEAR * (1 + sum(map(abs, terms)))


def _widest(
    strict: Sequence[Monomial],
    weak: Sequence[Monomial],
    atoms: Sequence[sp.Expr],
    margin_for_weak: bool,
    reach: int | None,
) -> list[Fraction] | None:
    """The logarithms at which the least excess is greatest, or None where none is positive.

    Without a reach the weak monomials may fall short by the rounding of logarithms,
    so that None is a proof.
    """
    slack = _ROUNDING if reach is None else Fraction(0)
    rows: list[list[Fraction]] = []
    bounds: list[Fraction] = []
    for monomials, margin in ((strict, True), (weak, margin_for_weak)):
        for monomial in monomials:
            row = [-_exact(monomial.exponent(a)) for a in atoms]
            rows.append([*row, Fraction(int(margin))])
            bounds.append(logarithm(monomial.coefficient) + slack)
    if reach is not None:
        for k in range(len(atoms)):
            for sign in (1, -1):
                rows.append([Fraction(sign * int(i == k)) for i in range(len(atoms) + 1)])
                bounds.append(Fraction(reach))
    rows.append([Fraction(0)] * len(atoms) + [Fraction(1)])
    bounds.append(Fraction(1))
    goal = [Fraction(0)] * len(atoms) + [Fraction(1)]
    found = simplex.maximize(goal, rows, bounds)
    if found.status != "optimal" or found.point[-1] <= _NOTHING:
        return None
    return list(found.point[:-1])


def _exact(exponent: Any) -> Fraction:
    return Fraction(int(exponent.p), int(exponent.q))


def _exponential(value: Fraction, digits: int) -> sp.Rational:
    with mp.workdps(45):
        number = mp.exp(mp.mpf(value.numerator) / value.denominator)
        return sp.Rational(mp.nstr(number, digits, strip_zeros=False))
