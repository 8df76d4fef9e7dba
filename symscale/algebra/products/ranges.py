"""What an optimum leaves open: between which monomials a variable may lie."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.elimination import Echelon, echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.products.dual import exponent_matrix
from symscale.algebra.products.limit import Limit, Piece
from symscale.algebra.products.program import Program
from symscale.algebra.products.solve import solve


@dataclass(frozen=True)
class OptimalRange:
    """The values that a variable takes among all optimal points.

    Attributes:
        least: It is at least each of these; empty where it may be as small as one likes.
        most: It is at most each of these; empty where it may be as large as one likes.
    """

    least: tuple[Monomial, ...]
    most: tuple[Monomial, ...]

    def __str__(self) -> str:
        least = _extreme(sp.Max, self.least)
        most = _extreme(sp.Min, self.most)
        if least is None:
            return "anything above 0" if most is None else f"anything up to {most}"
        return f"anything from {least}" + (" on" if most is None else f" to {most}")


def ranges(limit: Limit, piece: Piece) -> dict[sp.Symbol, OptimalRange]:
    """The variables that are not unique where a piece rules, with all values that they take.

    They are the projections, in logarithms, of the optimal points onto each variable.

    Raises:
        FormulaError: If a range changes form within the exponents' domain.

    Example:
        >>> from symscale.algebra.products.program import at_most
        >>> from symscale.language.symbols import symbols
        >>> T, N, J, K = symbols("T N J K")
        >>> limit = solve(Program("demo", "", "maximize", Monomial.of(T), (T, N), (
        ...     at_most("energy", T, J, ""), at_most("rate", T, N, ""),
        ...     at_most("cap", N, K, ""))))
        >>> print({str(x): str(r) for x, r in ranges(limit, limit.piece("energy")).items()})
        {'N': 'anything from J to K'}
    """
    program = limit.program
    within = [c.primitive**s for c in piece.region for s in ((-1, 1) if c.equal else (-1,))]
    domain = Domain((*program.domain.at_least_one, *within), program.domain.exponents)
    face = replace(_face(program, piece), domain=domain, piece_names={})
    found = {}
    for x in open_variables(limit, piece):
        least, most = (
            tuple(p.bound for p in solve(
                replace(face, sense=sense, objective=Monomial.of(x))
            ).pieces)
            for sense in ("minimize", "maximize")
        )
        if least != most or not least:
            found[x] = OptimalRange(least, most)
    return found


@dataclass(frozen=True)
class FixedProduct:
    """A product of powers of variables that is the same at all optimal points.

    Attributes:
        product: The product.
        value: What it is, in the parameters.
    """

    product: Monomial
    value: Monomial


def fixed_products(limit: Limit, piece: Piece) -> tuple[FixedProduct, ...]:
    """What is fixed of the variables that are not fixed themselves.

    Example:
        >>> from symscale.algebra.products.program import at_most
        >>> from symscale.language.symbols import symbols
        >>> T, N_DP, N_TP, J = symbols("T N_DP N_TP J")
        >>> limit = solve(Program("demo", "", "maximize", Monomial.of(T), (T, N_DP, N_TP), (
        ...     at_most("peak", T, N_DP * N_TP, ""), at_most("cap", N_DP * N_TP, J, ""))))
        >>> [(f.product.expr, f.value.expr) for f in fixed_products(limit, limit.pieces[0])]
        [(N_DP*N_TP, J)]
    """
    program = _face(limit.program, piece)
    ties, found = [c.ratio for c in program.constraints if c.is_equality], []
    form, scalars = _echelon(program)
    for row, operation in zip(form.rows, form.operations, strict=True):
        if sum(map(bool, row)) > 1:
            product = ONE
            for ratio, weight in zip(ties, operation, strict=True):
                if weight:
                    product = product * ratio ** field_to_expr(scalars, weight)
            variables, rest = product.split(program.variables)
            found.append(FixedProduct(variables, rest**-1))
    return tuple(found)


def open_variables(limit: Limit, piece: Piece) -> Sequence[sp.Symbol]:
    """The variables that the constraints which bind do not determine."""
    program = _face(limit.program, piece)
    form, _ = _echelon(program)
    fixed = {
        program.variables[pivot]
        for row, pivot in zip(form.rows, form.pivots, strict=True)
        if sum(map(bool, row)) == 1
    }
    return [x for x in program.variables if x not in fixed]


def _face(program: Program, piece: Piece) -> Program:
    """The program with the constraints that bind where a piece rules as equalities."""
    tight = [
        replace(c, relation="==") if c.name in piece.multipliers else c
        for c in program.constraints
    ]
    return replace(program, constraints=tuple(tight))


def _echelon(program: Program) -> tuple[Echelon, Scalars]:
    """The exponents of the equalities, reduced."""
    scalars = scalars_for(program.exponent_symbols, program.domain)
    rows = exponent_matrix(program, scalars)
    tied = [r for r, c in zip(rows, program.constraints, strict=True) if c.is_equality]
    return echelon(tied, scalars.convert(sp.Integer(1))), scalars


def _extreme(kind: Any, bounds: Sequence[Monomial]) -> Any:
    """The greatest or least of some bounds; None where there are none."""
    if len(bounds) < 2:
        return bounds[0].expr if bounds else None
    return kind(*(m.expr for m in bounds), evaluate=False)
