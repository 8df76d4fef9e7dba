"""The solver: largest or smallest monomial under monomial constraints, in closed form.

In logarithms the program is linear, and the feasible set of its dual does not
depend on the parameters. So the dual's vertices and rays, found once and
exactly, give the answer for all parameters at a time: each vertex multiplies the
constraints to one bound (a piece), each ray to a condition for feasibility.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.cone import MAX_RAYS
from symscale.algebra.exact.domain import ChangesFormError, Domain, IndeterminateSignError
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.dual import Multipliers, dual_of_cell
from symscale.algebra.products.limit import Condition, Limit, Piece
from symscale.algebra.products.program import Program
from symscale.algebra.products.ruling import feasible, prune, simplest, with_rules
from symscale.errors import FormulaError

_MAX_CELLS = 32


def solve(
    program: Program,
    *,
    max_rays: int = MAX_RAYS,
    progress: Callable[[int, int], None] | None = None,
) -> Limit:
    """Solve a monomial program in closed form.

    Every piece that cannot rule anywhere in the parameters' domain is left out. Where the
    others rule is found when it is read, unless symbols stand in exponents.
    The result has no pieces, and a direction, where the objective is unbounded;
    `Limit.check` and `Limit.ruling` raise then.

    Args:
        program: The program.
        max_rays: Give up beyond so many intermediate rays.
        progress: Called during the enumeration with rows done and rays held.

    Raises:
        TooLargeError: If more than `max_rays` rays are needed on the way.
        FormulaError: If the answer changes form within the exponents' domain.

    Example:
        >>> from symscale.algebra.products.program import Program, at_most
        >>> from symscale.language.symbols import symbols
        >>> N, T, C, t_d, b, b_0 = symbols("N T C t_d b b_0")
        >>> program = Program("demo", "", "maximize", Monomial.of(T), (T, N), (
        ...     at_most("arithmetic", T, N*C*t_d, "a run ends in time"),
        ...     at_most("devices", N, b_0, "a device needs a token"),
        ... ))
        >>> solve(program).expr
        C*b_0*t_d
    """
    vertices, rays = _dual(program, max_rays, progress)
    found = feasible(program, _feasibility(program, rays))
    if not vertices:
        return Limit(program, (), found.conditions, _direction(program))
    pieces = _deduplicate([_piece(program, vertex) for vertex in vertices])
    pruned = prune(found, pieces)
    pieces = _name(program, list(pruned.pieces))
    return Limit(program, with_rules(found, pruned, pieces), found.conditions)


def _dual(
    program: Program, max_rays: int, progress: Callable[[int, int], None] | None
) -> tuple[list[Multipliers], list[Multipliers]]:
    """Enumerate dual vertices and rays, cell by cell of the exponents' domain.

    Raises:
        FormulaError: If they are not the same in every cell and between the cells.
    """
    cells = [program.domain]
    found: list[tuple[list[Multipliers], list[Multipliers]]] = []
    breaks: list[tuple[Program, dict[sp.Symbol, Any]]] = []
    for done in count():
        if not cells:
            break
        cell = cells.pop()
        try:
            found.append(dual_of_cell(program, cell, max_rays, progress))
        except IndeterminateSignError as error:
            if done > _MAX_CELLS:
                raise
            parts = cell.split_at(error.polynomial)
            cells += parts
            s: Any = next(iter(error.polynomial.free_symbols))
            for part in parts[1:]:
                root: dict[sp.Symbol, Any] = {s: part.exponents[s].lower}
                breaks.append((replace(program, domain=cell).substitute(root), root))
    vertices, rays = found[0]
    if not breaks:
        return vertices, rays
    known = _forms(program, vertices, rays)
    same = all(_forms(program, *other) == known for other in found[1:])
    for between, at in breaks:
        here = _forms(between, *_dual(between, max_rays, progress))
        try:
            same = same and here <= _forms(program, vertices, rays, at)
        except FormulaError:  # a pole
            same = False
    if not same:
        names = ", ".join(map(str, program.exponent_symbols))
        changes = ChangesFormError(
            f"the answer changes form within the domain of {names}; give a number"
        )
        changes.breaks = tuple((s, root) for _, at in breaks for s, root in at.items())
        raise changes
    return vertices, rays


def _forms(
    program: Program,
    vertices: Sequence[Multipliers],
    rays: Sequence[Multipliers],
    at: dict[sp.Symbol, Any] | None = None,
) -> set[tuple[str, Monomial]]:
    """What the dual says: the bounds of its vertices and the conditions of its rays."""
    bounds = {("bound", _product(program, v).substitute(at or {})) for v in vertices}
    ratios = [c.ratio.substitute(at or {}) for c in _feasibility(program, rays)]
    return bounds | {("condition", simplest(r, program.domain)) for r in ratios if not r.is_one}


def _product(program: Program, multipliers: Sequence[sp.Expr]) -> Monomial:
    """The constraints' ratios, each raised to its multiplier, multiplied."""
    powers: dict[sp.Expr, sp.Expr] = {}
    for constraint, weight in zip(program.constraints, multipliers, strict=True):
        if weight != 0:
            for atom, exponent in constraint.ratio.powers:
                more = exponent * weight
                powers[atom] = powers[atom] + more if atom in powers else more
    return Monomial.from_powers(powers)


def _weights(program: Program, multipliers: Sequence[sp.Expr]) -> dict[str, sp.Expr]:
    return {
        c.name: w for c, w in zip(program.constraints, multipliers, strict=True) if w != 0
    }


def _inequalities(program: Program, weights: Mapping[str, sp.Expr]) -> tuple[str, ...]:
    return tuple(c.name for c in program.constraints if c.name in weights and not c.is_equality)


def _piece(program: Program, vertex: Multipliers) -> Piece:
    product = _product(program, vertex)
    sense = 1 if program.sense == "maximize" else -1
    bound = program.objective / product**sense
    weights = _weights(program, vertex)
    binding = _inequalities(program, weights)
    conditions = _exponent_conditions(vertex, program.domain)
    return Piece("", bound, weights, binding, conditions)


def _exponent_conditions(multipliers: Iterable[sp.Expr], domain: Domain) -> tuple[sp.Expr, ...]:
    """The irreducible polynomials in denominators of multipliers, signed to be positive."""
    found: list[sp.Expr] = []
    for weight in multipliers:
        if weight.is_Rational:
            continue
        denominator = sp.fraction(weight)[1]
        if not denominator.free_symbols:
            continue
        for factor, _ in sp.factor_list(denominator)[1]:
            signed = -factor if domain.sign(factor) < 0 else factor
            if signed not in found:
                found.append(signed)
    return tuple(found)


def _feasibility(program: Program, rays: Sequence[Multipliers]) -> tuple[Condition, ...]:
    """Conditions of the rays, without the trivial, the doubled and the constant true ones."""
    conditions: dict[Monomial, Condition] = {}
    for ray in rays:
        ratio = _product(program, ray)
        if not ratio.free_symbols and ratio.compare_one() <= 0:
            continue
        weights = _weights(program, ray)
        binding = _inequalities(program, weights) or tuple(weights)
        conditions.setdefault(ratio, Condition(ratio, weights, binding=binding))
    return tuple(conditions.values())


def _deduplicate(pieces: Sequence[Piece]) -> list[Piece]:
    """Keep one piece for each bound: the one with the fewest constraints."""
    best: dict[Monomial, Piece] = {}
    for piece in pieces:
        other = best.get(piece.bound)
        if other is None or len(piece.multipliers) < len(other.multipliers):
            best[piece.bound] = piece
    return list(best.values())


def _name(program: Program, pieces: list[Piece]) -> list[Piece]:
    """Name pieces by the program's table, or else by what binds."""
    named = []
    for piece in pieces:
        matches = [
            label for key, label in program.piece_names.items() if key <= set(piece.binding)
        ]
        named.append(matches[0] if matches else " + ".join(piece.binding) or "definitions")
    result = []
    for piece, label in zip(pieces, named, strict=True):
        name = label
        if named.count(label) > 1:
            shared = set.intersection(
                *(set(p.binding) for p, n in zip(pieces, named, strict=True) if n == label)
            )
            own = [b for b in piece.binding if b not in shared]
            name = f"{label} ({', '.join(own) or 'rest'})"
        result.append(replace(piece, name=name))
    order = list(program.piece_names.values())
    return sorted(result, key=lambda p: order.index(p.name) if p.name in order else len(order))


def _direction(program: Program) -> dict[sp.Symbol, sp.Rational]:
    """Powers by which the variables may change together, improving the objective for ever."""
    sample: dict[Any, Any] = dict(program.domain.sample())
    sense = 1 if program.sense == "maximize" else -1
    matrix: list[list[Fraction]] = []
    for constraint in program.constraints:
        row = [_fraction(constraint.ratio.exponent(x), sample) for x in program.variables]
        matrix.append(row)
        if constraint.is_equality:
            matrix.append([-x for x in row])
    objective = [
        _fraction(sense * program.objective.exponent(x), sample) for x in program.variables
    ]
    found = simplex.maximize(objective, matrix, [Fraction(0)] * len(matrix))
    return {
        x: sp.Rational(v.numerator, v.denominator)
        for x, v in zip(program.variables, found.point, strict=True)
        if v
    }


def _fraction(expr: sp.Expr, sample: dict[Any, Any]) -> Fraction:
    value = sp.Rational(expr.subs(sample))
    return Fraction(int(value.p), int(value.q))
