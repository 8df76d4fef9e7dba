"""Certificates of closed forms of sums: shares, multipliers and witness of a known point.

With `a_i` the exponents of the objective's terms, `w_i` their shares and `h_k` the
exponents of the constraints that bind, an optimum has `sum_i w_i a_i + sum_k l_k h_k = 0`.
So each multiplier `l_k` is a combination of the shares.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.elimination import Echelon, echelon
from symscale.algebra.exact.inequalities import exceeds_zero
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.exact.signs import positive_monomial
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.witness import sum_witness
from symscale.errors import FormulaError
from symscale.kernel.sum_certificate import OBJECTIVE, SumCertificate

_UNIT = sp.Integer(1)


class NowhereError(FormulaError):
    """A closed form that rules nowhere has no certificate, and needs none."""

    def __init__(self, piece: str) -> None:
        """Name the closed form."""
        super().__init__(f"{piece!r} rules nowhere")


Conditions = Sequence[tuple[sp.Expr, sp.Expr]]
Values = Mapping[sp.Symbol, sp.Rational]


def certify_sums(
    program: GeometricProgram,
    piece: str,
    binding: Sequence[str],
    optimum: sp.Expr,
    point: Mapping[sp.Symbol, sp.Expr],
    conditions: Conditions,
    values: Values | None = None,
) -> SumCertificate:
    """Make the certificate of a closed form.

    Args:
        program: The program.
        piece: The closed form's name.
        binding: The constraints that bind, besides equalities.
        optimum: The closed form.
        point: The optimal variables.
        conditions: Pairs (left, right): it rules where left <= right.
        values: Parameters at which it rules, if some are known.

    Raises:
        NowhereError: If it seems to rule nowhere.
        FormulaError: If several sums bind, no parameters were found at which it rules,
            or the point has no such form.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.kernel.checker import check
        >>> from symscale.language.symbols import symbols
        >>> x, a, b = symbols("N J K")
        >>> program = GeometricProgram((x,), (Monomial.of(a*x), Monomial.of(b/x)), (), Domain())
        >>> found = certify_sums(program, "interior", (), 2*sp.sqrt(a*b), {x: sp.sqrt(b/a)}, ())
        >>> check(found)
        >>> found.bound.expr, found.weights["objective"][0].expr
        (2*sqrt(J)*sqrt(K), 1/2)
    """
    at = {x: _tidy(positive_monomial(e)) for x, e in point.items()}
    sums = [c for c in program.constraints if c.name in binding and len(c.terms) > 1]
    if len(sums) > 1 or (sums and len(program.objective) > 1):
        raise FormulaError(f"in {piece!r} several sums bind")
    terms = [_tidy(t.substitute(at)) for t in program.objective]
    bound = _tidy(positive_monomial(optimum))
    value = bound**-1 if program.inverse else bound
    weights: dict[str, tuple[Monomial, ...]] = {}
    if len(terms) > 1:
        weights[OBJECTIVE] = tuple(t / value for t in terms)
    for c in sums:
        weights[c.name] = tuple(_tidy(t.substitute(at)) for t in c.terms)
    given = tuple(_difference(left, right) for left, right in conditions)
    return SumCertificate(
        program, piece, bound, weights, _multipliers(program, binding, sums, weights), at, given,
        _witness(program, piece, given, values or {}),
    )


def _tidy(monomial: Monomial) -> Monomial:
    """The same monomial with every sum in its one form, without common factors."""
    result = ONE
    for atom, exponent in monomial.powers:
        inner = positive_monomial(atom) if atom.is_Add else Monomial.from_powers({atom: _UNIT})
        result = result * inner**exponent
    return result


def _difference(left: sp.Expr, right: sp.Expr) -> Terms:
    """What `left <= right` says to be at least zero."""
    found: list[tuple[sp.Expr, Monomial]] = []
    for side, sign in ((right, 1), (left, -1)):
        for term in sp.Add.make_args(side):
            negative = term.could_extract_minus_sign()
            rest = _tidy(positive_monomial(-term if negative else term))
            found.append((sp.Integer(-sign if negative else sign), rest))
    return tuple(found)


def _multipliers(
    program: GeometricProgram,
    binding: Sequence[str],
    sums: Sequence[SumConstraint],
    weights: Mapping[str, tuple[Monomial, ...]],
) -> dict[str, Terms]:
    """The power of each constraint that binds, as combinations of shares."""
    scalars = scalars_for(program.exponent_symbols, program.domain)
    one = scalars.convert(_UNIT)

    def row(term: Monomial) -> list[Any]:
        return [scalars.convert(term.exponent(x)) for x in program.variables]

    chosen: list[SumConstraint] = []
    for c in program.constraints:  # equalities first: all bind, and some may follow from others
        if c.relation == "==" and not _depends([row(k.terms[0]) for k in (*chosen, c)], one):
            chosen.append(c)
    chosen += [c for c in program.constraints if c.name in binding and len(c.terms) == 1]
    form = echelon([row(c.terms[0]) for c in chosen], one)
    parts: list[tuple[sp.Expr, Monomial, list[Any]]] = []  # weighted exponents, all over
    for term, share in zip(program.objective, weights.get(OBJECTIVE, (ONE,)), strict=True):
        parts.append((_UNIT, share, row(term)))
    found: dict[str, Terms] = {}
    for c in sums:
        power = _power_of_sum(row(program.objective[0]), [row(t) for t in c.terms], form, scalars)
        found[c.name] = ((power, ONE),)
        parts += [(power, w, row(t)) for t, w in zip(c.terms, weights[c.name], strict=True)]
    for position, c in enumerate(chosen):
        table: dict[Monomial, sp.Expr] = {}
        for factor, share, exponents in parts:
            _, used = form.reduce(exponents)
            coefficient = -factor * field_to_expr(scalars, used[position])
            table[share] = sp.cancel(table.get(share, sp.Integer(0)) + coefficient)
        kept = tuple((e, m) for m, e in table.items() if e != 0)
        if kept:
            found[c.name] = kept
    return found


def _depends(rows: list[list[Any]], one: Any) -> bool:
    return bool(echelon(rows, one).null_operations)


def _power_of_sum(
    objective: list[Any], terms: list[list[Any]], form: Echelon, scalars: Scalars
) -> sp.Expr:
    """The multiplier of the sum that binds: its shares add up to 1 whatever they are."""
    reduced = [form.reduce(t)[0] if form.operations else t for t in terms]
    inner = echelon(reduced, scalars.convert(_UNIT))
    rest = form.reduce(objective)[0] if form.operations else objective
    _, used = inner.reduce(rest)
    return field_to_expr(scalars, -sum(used[1:], used[0]))


def _witness(
    program: GeometricProgram, piece: str, conditions: Sequence[Terms], values: Values
) -> dict[sp.Symbol, sp.Rational]:
    """Parameters at which all conditions hold strictly: those known, or others found."""
    if all(s in values for s in program.parameters) and all(
        exceeds_zero(terms, values) for terms in conditions
    ):
        return {s: values[s] for s in program.parameters}
    every = [*program.objective, *(t for c in program.constraints for t in c.terms)]
    coefficients = [t.split(program.variables)[1] for t in every]
    witness, nowhere = sum_witness(conditions, coefficients, program)
    if witness is None:
        raise NowhereError(piece) if nowhere else FormulaError(
            f"no parameters were found at which {piece!r} rules"
        )
    return witness
