"""Sums of monomials as one monomial, in one form whatever way they were written.

`b/(3*L) + 1` and `b/L + 3` are one sum up to a factor, so they become one atom, `b + 3*L`,
times different monomials: what is equal looks equal, in text and in certificates.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import mpmath as mp
import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.combinations import Terms, without_rational
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.signs import positive_monomial
from symscale.algebra.products.limit import plain_content, split_fraction
from symscale.errors import FormulaError

_Table = dict[Monomial, sp.Rational]
_MOST_EXPANDED = 4  # powers up to this one are multiplied out within a sum


def total(terms: Iterable[Monomial], minus: Iterable[Monomial] = ()) -> Monomial:
    """The sum of monomials, less others, as a monomial; it must be positive.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, L = (Monomial.of(s) for s in symbols("b L"))
        >>> one, other = total([b/L, Monomial.of(3)]), total([b/L/Monomial.of(3), ONE])
        >>> one.expr, (one/other).expr
        ((3*L + b)/L, 3)
    """
    shared, table = _gathered([*((1, m) for m in terms), *((-1, m) for m in minus)])
    if not table:
        raise FormulaError("a sum that should be positive vanishes")
    # Of two sums that differ by a root of a number such as sqrt(2), one form is chosen.
    first = min(table, key=lambda m: str((m / m.coefficient).expr))
    table = _collected([(q, m / first.coefficient) for m, q in table.items()])
    content = _content(table.values())
    inside = {m: q / content for m, q in table.items()}
    result = shared * first.coefficient * Monomial.of(content)
    if len(inside) == 1:
        ((rest, number),) = inside.items()
        return result * rest * Monomial.of(number)
    atom = sp.Add(*(q * m.expr for m, q in inside.items()))
    return result * Monomial.from_powers({atom: sp.Integer(1)})


def _gathered(
    entries: Iterable[tuple[sp.Rational | int, Monomial]]
) -> tuple[Monomial, _Table]:
    """A sum as a factor that all terms share, and the rest, sums in it multiplied out."""
    table = _collected(entries)
    shared = _shared(list(table)) if table else ONE
    table = _collected([(q, m / shared) for m, q in table.items()], expand=True)
    again = _shared(list(table)) if table else ONE
    return shared * again, _collected([(q, m / again) for m, q in table.items()])


@dataclass(frozen=True)
class Signed:
    """A sum of either sign: `shared * (sum(positive) - sum(negative))`, nothing in common.

    Attributes:
        shared: A positive factor.
        positive: Terms that count.
        negative: Terms that count against them.
    """

    shared: Monomial
    positive: tuple[Monomial, ...]
    negative: tuple[Monomial, ...]

    @property
    def needed(self) -> "Requirement | None":
        """What makes it at least zero; None where it is so anyway."""
        if not self.negative:
            return None
        return Requirement.of(total(self.negative), total(self.positive))

    @property
    def terms(self) -> Terms:
        """Its terms, with their signs."""
        one = sp.Integer(1)
        return (*((one, self.shared * m) for m in self.positive),
                *((-one, self.shared * m) for m in self.negative))


def signed(terms: Terms, domain: Domain) -> Signed:
    """Gather a sum of terms of either sign, sums within it multiplied out.

    Raises:
        IndeterminateSignError: If a coefficient's sign depends on exponents.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> J, K = (Monomial.of(s) for s in symbols("J K"))
        >>> found = signed(((sp.Integer(2), J**2), (sp.Integer(-1), J*K)), Domain())
        >>> found.shared.expr, [m.expr for m in found.positive], found.needed.pair
        (J, [2*J], (K, 2*J))
    """
    entries = []
    for c, m in terms:
        sign = domain.sign(c)
        if sign:
            entries.append((sign, positive_number(sign * c) * m))
    shared, table = _gathered(entries)
    whole = _collected(entries)
    if len(whole) == 2 and len({q > 0 for q in table.values()}) == 2:
        shared = _shared(list(whole))  # two powers of sums say more than what they come to
        table = {m / shared: q for m, q in whole.items()}
    sides: tuple[list[Monomial], list[Monomial]] = ([], [])
    for m, q in table.items():
        sides[bool(q < 0)].append(m * Monomial.of(abs(q)))
    return Signed(shared, tuple(sides[0]), tuple(sides[1]))


def signed_terms(expr: sp.Expr) -> Terms:
    """The terms of a sum, each a number of either sign and a monomial."""
    found = []
    for term in sp.Add.make_args(expr):
        negative = term.could_extract_minus_sign()
        number, rest = without_rational(positive_monomial(-term if negative else term))
        found.append((-number if negative else number, rest))
    return tuple(found)


def sides_of(expr: sp.Expr) -> tuple[list[Monomial], list[Monomial]]:
    """The terms of a sum above zero, and those below zero, turned round."""
    sides: tuple[list[Monomial], list[Monomial]] = ([], [])
    for c, m in signed_terms(expr):
        sides[bool(c < 0)].append(m * Monomial.of(abs(c)))
    return sides


def put_into(monomial: Monomial, values: Mapping[sp.Symbol, Monomial]) -> Monomial:
    """A monomial with symbols replaced, also in the sums that are its factors.

    These are positive where they were, whatever they look like then.

    Raises:
        FormulaError: If a sum vanishes.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> J, K, L = symbols("J K L")
        >>> put_into(Monomial.of(J + 1)**2, {J: total([Monomial.of(K)], [Monomial.of(L)])}).expr
        (K - L + 1)**2
    """
    result = ONE
    for atom, exponent in monomial.powers:
        if atom.is_Add and atom.free_symbols & values.keys():
            sides = ([put_into(m, values) for m in side] for side in sides_of(atom))
            result = result * total(*sides) ** exponent
        else:
            result = result * Monomial.from_powers({atom: exponent}).substitute(values)
    return result


def positive_number(weight: sp.Expr) -> Monomial:
    """A positive rational function of exponents as a monomial."""
    return Monomial.of(weight) if weight.is_Rational else as_sum(sp.factor(weight))


def as_sum(expr: sp.Expr) -> Monomial:
    """A positive expression as a monomial, each sum in it in its one form."""
    result = ONE
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if base.is_Add:
            above: list[Monomial] = []
            below: list[Monomial] = []
            for term in sp.Add.make_args(base):
                negative = term.could_extract_minus_sign()
                (below if negative else above).append(as_sum(-term if negative else term))
            result = result * total(above, below) ** exponent
        elif base.is_Mul:
            result = result * as_sum(base) ** exponent
        else:
            result = result * Monomial.of(factor)
    return result


def _collected(
    terms: Iterable[tuple[sp.Rational | int, Monomial]], expand: bool = False
) -> _Table:
    table: _Table = {}
    for number, monomial in terms:
        for q, m in _expanded(monomial) if expand else [(sp.Integer(1), monomial)]:
            rational, rest = without_rational(m)
            table[rest] = table.get(rest, sp.Integer(0)) + number * q * rational
    return {m: q for m, q in table.items() if q != 0}


def _expanded(monomial: Monomial) -> list[tuple[sp.Rational, Monomial]]:
    """A monomial with its sums multiplied out, where their powers are small and whole."""
    found = [(sp.Integer(1), Monomial(tuple(p for p in monomial.powers if not _opens(p))))]
    for atom, power in filter(_opens, monomial.powers):
        for _ in range(int(power)):
            parts = [_signed(t) for t in sp.Add.make_args(atom)]
            found = [(q * s, m * t) for q, m in found for s, t in parts]
    return found


def _opens(power: tuple[sp.Expr, sp.Expr]) -> bool:
    atom, exponent = power
    return bool(atom.is_Add and exponent.is_Integer and 0 < exponent <= _MOST_EXPANDED)


def _signed(term: sp.Expr) -> tuple[sp.Integer, Monomial]:
    negative = term.could_extract_minus_sign()
    return sp.Integer(-1 if negative else 1), as_sum(-term if negative else term)


def _shared(monomials: list[Monomial]) -> Monomial:
    """What all have in common: of each atom the least power, or a symbolic one that all have."""
    powers: dict[sp.Expr, sp.Expr] = {}
    for atom in dict.fromkeys(a for m in monomials for a, _ in m.powers):
        exponents = [m.exponent(atom) for m in monomials]
        if all(e.is_Rational for e in exponents):
            least = min(exponents)
            # Numbers keep their roots only: whole powers belong to the coefficients.
            powers[atom] = least if not atom.is_Integer or len(set(exponents)) == 1 else (
                sp.Integer(0)
            )
        elif len(set(exponents)) == 1:
            powers[atom] = exponents[0]
    return Monomial.from_powers(powers)


def _content(numbers: Iterable[sp.Rational]) -> sp.Rational:
    found = list(numbers)
    return sp.Rational(
        math.gcd(*(int(q.p) for q in found)), math.lcm(*(int(q.q) for q in found))
    )


@dataclass(frozen=True)
class Requirement:
    """A monomial in parameters, sums among its atoms, that is at most, below, or equal to 1.

    Attributes:
        ratio: The monomial.
        relation: How it compares with 1.
    """

    ratio: Monomial
    relation: Literal["<=", "<", "=="] = "<="

    @classmethod
    def of(
        cls, left: Monomial, right: Monomial, relation: Literal["<=", "<", "=="] = "<="
    ) -> "Requirement":
        """`left <= right`, without what both sides share."""
        ratio = left / right
        if ratio.is_one:
            return cls(ratio, relation)
        sums = Monomial(tuple(p for p in ratio.powers if p[0].is_Add))
        content = sums.content if sums.powers else plain_content(ratio)
        return cls(ratio ** (1 / content), relation)

    @property
    def pair(self) -> tuple[sp.Expr, sp.Expr]:
        """Left and right side, with positive exponents only."""
        above, below = split_fraction(self.ratio)
        return above.expr, below.expr

    @property
    def relational(self) -> Relational:
        """The requirement as SymPy prints it."""
        kinds: dict[str, Any] = {"<=": sp.Le, "<": sp.Lt, "==": sp.Eq}
        return kinds[self.relation](*self.pair, evaluate=False)

    @property
    def settled(self) -> bool | None:
        """Whether it holds, where it has no symbols."""
        return None if self.ratio.free_symbols else self.holds({})

    def holds(self, values: Mapping[sp.Symbol, sp.Rational]) -> bool:
        """Whether it holds at given values, equal to 25 digits counting as equal."""
        try:
            sign = self.ratio.compare_one(values)
        except FormulaError:
            try:
                gap = self.ratio.logarithm(values)
            except FormulaError:
                return False  # a sum is not positive there
            sign = 0 if abs(gap) < mp.mpf("1e-25") else int(mp.sign(gap))
        return {"<=": sign <= 0, "<": sign < 0, "==": sign == 0}[self.relation]
