"""Sums that stand as factors: their signs at a witness, and proofs that they are positive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from symscale.algebra.certify.statements import Hypothesis, Proof, Summand
from symscale.algebra.exact.combinations import Terms, times, vanishes
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.signs import positive_monomial
from symscale.errors import FormulaError

Values = Mapping[sp.Symbol, sp.Rational]

_ONE = sp.Integer(1)
_MOST_POWERS = 8


@dataclass(frozen=True)
class Oriented:
    """A sum, signed so that it is positive.

    Attributes:
        expr: The sum.
        terms: Its terms.
        inner: The sums within it, by the factor that each stands for.
    """

    expr: sp.Expr
    terms: Terms
    inner: "tuple[tuple[sp.Expr, Oriented], ...]" = ()

    @classmethod
    def of(cls, atom: sp.Expr, witness: Values) -> "Oriented":
        """Read a compound factor, with the sign that it has at a witness.

        Raises:
            FormulaError: If it is no sum of products of powers, or vanishes there.
        """
        if not atom.is_Add:
            raise FormulaError(f"certificates have no {type(atom).__name__} such as {atom}")
        value = sp.N(atom.xreplace(dict(witness)), 30)
        if not (value.is_positive or value.is_negative):
            raise FormulaError(f"the sign of {atom} at the witness is open")
        expr = atom if value.is_positive else -atom
        terms = []
        for term in sp.Add.make_args(expr):
            negative = term.could_extract_minus_sign()
            monomial = positive_monomial(-term if negative else term)
            number = sp.Integer(1)
            if monomial.coefficient.powers:
                plain = monomial.coefficient.expr
                if plain.is_Rational:
                    number, monomial = plain, monomial / monomial.coefficient
            terms.append((-number if negative else number, monomial))
        return cls(expr, tuple(terms))

    @property
    def atoms(self) -> tuple[sp.Expr, ...]:
        """The compound factors within it."""
        found = (a for _, m in self.terms for a in m.atoms if not a.is_Symbol)
        return tuple(dict.fromkeys(found))

    def with_inner(self, signs: "Mapping[sp.Expr, Oriented]") -> "Oriented":
        """The same, with the sums within it looked up."""
        return replace(self, inner=tuple((a, signs[a]) for a in self.atoms))


def positivity(
    oriented: Oriented, region: Sequence[Hypothesis], domain: Sequence[Hypothesis]
) -> tuple[Proof, Hypothesis | None]:
    """A proof that a sum is positive, and the condition that it uses, if any.

    By its form, by the bounds of the domain, by a condition of the region, or else by a
    condition that says just this and that the region needs in addition.
    """
    if all(c.is_positive for c, _ in oriented.terms):
        return tuple(Summand(c, m) for c, m in oriented.terms), None
    proof = _by_bounds(oriented.terms, domain)
    if proof is not None:
        return proof, None
    for given in region:
        factor = _factor(oriented.terms, given)
        if factor is not None:
            return (replace(factor, times={given.name: 1}),), given
    own = Hypothesis(f"{oriented.expr} > 0", ">", oriented.terms)
    return (Summand(times={own.name: 1}),), own


def _factor(terms: Terms, given: Hypothesis) -> Summand | None:
    """By which positive monomial a strict condition is to be multiplied to give the terms."""
    if given.relation != ">":
        return None
    for c, m in terms:
        for d, n in given.terms:
            number = c / d
            if number.is_Rational and number > 0:
                scaled = times(given.terms, m / n)
                if vanishes([*terms, *((-number * e, k) for e, k in scaled)]):
                    return Summand(number, m / n)
    return None


def _by_bounds(terms: Terms, domain: Sequence[Hypothesis]) -> Proof | None:
    """Expand a polynomial in the distances from the bounds of its symbols; all must be >= 0."""
    symbols = {a for _, m in terms for a in m.atoms}
    if not all(a.is_Symbol for a in symbols):
        return None
    bounds: dict[sp.Symbol, tuple[str, sp.Rational, int]] = {}
    for given in domain:
        (_, above), (_, below) = given.terms
        for one, other, sign in ((above, below, 1), (below, above, -1)):
            atoms = one.atoms
            if len(atoms) == 1 and not other.atoms and one.exponent(atoms[0]) == 1:
                scale, number = one.coefficient.expr, other.expr
                s = atoms[0]
                if scale.is_Rational and number.is_Rational and isinstance(s, sp.Symbol):
                    bounds[s] = (given.name, sp.Rational(number / scale), sign * scale)
    shifts = {s: sp.Dummy(positive=True) for s in bounds}
    expr = sp.Add(*(c * m.expr for c, m in terms))
    moved = expr.xreplace({s: bounds[s][1] + shifts[s] / bounds[s][2] for s in bounds})
    found: list[Summand] = []
    strict = False
    for term in sp.Add.make_args(sp.expand(moved)):
        rest, distances = term.as_independent(*shifts.values(), as_Add=False)
        if not distances.is_polynomial(*shifts.values()):
            return None  # a power with a symbol in its exponent
        counts = {bounds[s][0]: sp.degree(distances, d) for s, d in shifts.items()
                  if distances.has(d)}
        if rest.could_extract_minus_sign() or any(k > _MOST_POWERS for k in counts.values()):
            return None
        strict = strict or not counts
        number, product = rest.as_independent(*rest.free_symbols, as_Add=False)
        if not number.is_Rational:
            return None
        found.append(Summand(number, Monomial.of(product) if product != 1 else ONE,
                             {n: int(k) for n, k in counts.items()}))
    return tuple(found) if strict else None
