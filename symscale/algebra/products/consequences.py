"""What follows from monomials that are at most 1: products of their powers, found exactly.

In logarithms this is Farkas' lemma. A linear program at sample exponents tells which
conditions are needed; their powers are then solved for exactly, and hold for all exponents.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.regions import logarithm
from symscale.algebra.exact.scalars import field_to_expr, scalars_for

_ZERO = Fraction(0)
_POSITIONS = tuple(sp.Rational(k, 7) for k in (3, 1, 5, 2, 6))


class Premises:
    """The parameters at which given monomials are at most 1, or equal to 1.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> J, K = symbols("J K")
        >>> premises = Premises({"J <= K": Monomial.of(J/K)}, Domain())
        >>> premises.powers(Monomial.of(J**2/(3*K**2)))
        {'J <= K': 2}
        >>> premises.powers(Monomial.of(K/J)) is None
        True
    """

    def __init__(
        self, given: Mapping[str, Monomial], domain: Domain, equal: frozenset[str] = frozenset()
    ) -> None:
        """Keep the conditions by name; those named in `equal` are equal to 1."""
        self.given = dict(given)
        self.domain = domain
        self.equal = equal

    def powers(self, claim: Monomial, *, strict: bool = False) -> dict[str, sp.Expr] | None:
        """Powers of the given monomials whose product is the claimed one times a number <= 1.

        Args:
            claim: What is to be at most 1.
            strict: Whether the number is to be below 1.

        Returns:
            The powers, or None where none were found.
        """
        if not strict and claim in self.given.values():
            return {next(n for n, m in self.given.items() if m == claim): sp.Integer(1)}
        found = self.reduced(claim)
        if found is None or not _number_at_most_one(found[1], self.domain, strict):
            return None
        return found[0]

    def reduced(self, claim: Monomial) -> tuple[dict[str, sp.Expr], Monomial] | None:
        """Powers whose product is the claim times one over a number, and the least such number.

        So the claim is at most that number. None where there is no such number, or none
        was found.
        """
        if not claim.atoms:
            return {}, claim
        for sample in self._samples_of(claim):
            support = self._support(claim, sample)
            if support is None:
                return None
            found = self._solved(claim, support)
            if found is not None and self._signed(found):
                return found, claim / self.product(found)
        return None

    def contradiction(self) -> dict[str, sp.Expr] | None:
        """Powers of the given monomials whose product is a number above 1, if there are such."""
        for sample in self._samples_of(ONE):
            program = self._program(ONE, sample)
            found = simplex.maximize(program.goal, program.rows, program.bounds)
            if found.status != "infeasible":
                return None
            support = self._owners(found.multipliers)
            first = next(iter(support))  # its power is 1, what follows is solved for
            rest = Premises({n: self.given[n] for n in support[1:]}, self.domain, self.equal)
            found_rest = rest._solved(self.given[first] ** -1, support[1:])
            if found_rest is not None:
                powers = {first: sp.Integer(1), **found_rest}
                number = self.product(powers)
                if not number.atoms and self._signed(powers) and _number_at_most_one(
                    number**-1, self.domain, True
                ):
                    return powers
        return None

    def product(self, powers: Mapping[str, sp.Expr]) -> Monomial:
        """The product of powers of given monomials."""
        result = ONE
        for name, power in powers.items():
            result = result * self.given[name] ** power
        return result

    def without(self, name: str) -> "Premises":
        """The same without one condition."""
        rest = {n: m for n, m in self.given.items() if n != name}
        return Premises(rest, self.domain, self.equal)

    def redundant(self, order: Sequence[str]) -> list[str]:
        """Which conditions follow from the others, dropped one after the other in this order."""
        premises, dropped = self, []
        for name in order:
            smaller = premises.without(name)
            if smaller.powers(self.given[name]) is not None:
                premises = smaller
                dropped.append(name)
        return dropped

    def _samples_of(self, claim: Monomial) -> list[dict[Any, Any]]:
        symbols: set[Any] = claim.exponent_symbols.union(
            *(m.exponent_symbols for m in self.given.values())
        )
        if not symbols:
            return [{}]
        samples = (self.domain.sample(p) for p in _POSITIONS)
        return [{s: v for s, v in sample.items() if s in symbols} for sample in samples]

    def _program(self, claim: Monomial, sample: dict[Any, Any]) -> "_Logarithms":
        """The linear program, in logarithms, of how large a claim can be."""
        at = {n: m.substitute(sample) if sample else m for n, m in self.given.items()}
        goal = claim.substitute(sample) if sample else claim
        atoms = list(dict.fromkeys(a for m in [goal, *at.values()] for a in m.atoms))
        rows, bounds = [], []
        for name, sign in self._signs:
            table = at[name].table
            rows.append([sign * _exact(table[a]) if a in table else _ZERO for a in atoms])
            bounds.append(-sign * logarithm(at[name].coefficient))
        return _Logarithms([_exact(goal.exponent(a)) for a in atoms], rows, bounds)

    @property
    def _signs(self) -> list[tuple[str, int]]:
        """Each condition, those that are equalities once in each direction."""
        return [(n, s) for n in self.given for s in ((1, -1) if n in self.equal else (1,))]

    def _support(self, claim: Monomial, sample: dict[Any, Any]) -> list[str] | None:
        program = self._program(claim, sample)
        found = simplex.maximize(program.goal, program.rows, program.bounds)
        return self._owners(found.multipliers) if found.status == "optimal" else None

    def _owners(self, multipliers: Sequence[Any]) -> list[str]:
        used = [n for (n, _), y in zip(self._signs, multipliers, strict=True) if y]
        return list(dict.fromkeys(used))

    def _solved(self, claim: Monomial, support: Sequence[str]) -> dict[str, sp.Expr] | None:
        """The powers of some conditions that multiply to the claim, up to a number."""
        monomials = [self.given[n] for n in support]
        symbols = claim.exponent_symbols.union(*(m.exponent_symbols for m in monomials))
        scalars = scalars_for(sorted(symbols, key=str), self.domain)
        atoms = list(dict.fromkeys(a for m in [claim, *monomials] for a in m.atoms))
        goal = [scalars.convert(claim.exponent(a)) for a in atoms]
        if not support:
            return None if any(goal) else {}
        one = scalars.convert(sp.Integer(1))
        form = echelon([[scalars.convert(m.exponent(a)) for a in atoms] for m in monomials], one)
        if not form.operations:
            return None
        rest, used = form.reduce(goal)
        if any(rest):
            return None
        powers = ((n, field_to_expr(scalars, x)) for n, x in zip(support, used, strict=True) if x)
        return dict(powers)

    def _signed(self, powers: Mapping[str, sp.Expr]) -> bool:
        try:
            return all(n in self.equal or self.domain.sign(p) >= 0 for n, p in powers.items())
        except IndeterminateSignError:
            return False


class _Logarithms(NamedTuple):
    """Maximise goal.x under rows x <= bounds."""

    goal: list[Fraction]
    rows: list[list[Fraction]]
    bounds: list[Fraction]


def _number_at_most_one(number: Monomial, domain: Domain, strict: bool) -> bool:
    """Whether a number, to powers that may be symbolic, is at most 1 (below 1)."""
    if number.atoms:
        return False
    if not number.exponent_symbols:
        return number.compare_one() < (0 if strict else 1)
    try:
        signs = [domain.sign(e) for _, e in number.powers]
    except IndeterminateSignError:
        return False
    return all(s <= 0 for s in signs) and (not strict or any(s < 0 for s in signs))


def _exact(exponent: Any) -> Fraction:
    return Fraction(int(exponent.p), int(exponent.q))
