"""Theorems about limits: bounds, points in all of each region, what is infeasible, the cover."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from symscale.algebra.certify.statements import (
    Contradiction,
    Hypothesis,
    Leaf,
    Least,
    Split,
    Summand,
    Tree,
    at_most_one,
    is_one,
)
from symscale.algebra.certify.writer import CertificateWriter, Values
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.regions import find_witness
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.limit import (
    Condition,
    Limit,
    Piece,
    domain_conditions,
    premises_of,
)
from symscale.algebra.products.points import RegionPoint, region_point
from symscale.algebra.products.program import Program
from symscale.algebra.products.witness import witness_of
from symscale.errors import FormulaError

UNBOUNDED = "unbounded"


@dataclass
class LimitTheorems:
    """The theorems about a limit, written.

    Attributes:
        writer: What they are written with; it gives the file's data.
        missing: The names of those that could not be written.
    """

    writer: CertificateWriter
    missing: list[str] = field(default_factory=list)


def theorems_of(limit: Limit) -> LimitTheorems:
    """Write all theorems about a limit.

    A bound and a point for each piece, named as the piece, the point valid in all of its
    region; for each condition of feasibility that nothing is feasible where it fails; where
    there are no pieces, a direction; and that these cover all parameters.

    Raises:
        FormulaError: If the format has no words for the program.

    Example:
        >>> from symscale.algebra.products.program import at_most
        >>> from symscale.algebra.products.solve import solve
        >>> from symscale.language.symbols import symbols
        >>> N, J, K = symbols("N J K")
        >>> limit = solve(Program("demo", "", "maximize", Monomial.of(N), (N,), (
        ...     at_most("first", N, J, ""), at_most("second", N, K, ""))))
        >>> [t["name"] for t in theorems_of(limit).writer.data("demo")["theorems"]]
        ['first: bound', 'first', 'second: bound', 'second', 'cover']
    """
    found = LimitTheorems(CertificateWriter(limit.program))
    told = [c for c in limit.feasibility if _infeasible(limit.program, c, found)]
    impossible = any(not c.ratio.free_symbols for c in limit.feasibility)
    leaves: dict[str, Sequence[Condition] | None] = {}
    if not impossible:
        for piece in limit.pieces:
            leaves[piece.name] = _piece(limit, piece, found)
        if not limit.pieces:
            leaves[UNBOUNDED] = _unbounded(limit, found)
    _cover(limit, told, leaves, found)
    return found


def infeasibility_name(condition: Condition) -> str:
    """What the theorem is called that nothing is feasible where a condition fails."""
    if not condition.ratio.free_symbols:
        return "infeasible"
    return f"infeasible unless {condition.name}"


def _hypotheses(conditions: Sequence[Condition]) -> list[Hypothesis]:
    return [
        is_one(c.primitive) if c.equal else at_most_one(c.primitive, name=c.name)
        for c in conditions
    ]


def _infeasible(program: Program, condition: Condition, found: LimitTheorems) -> bool:
    """Nothing is feasible where a condition fails."""
    name = infeasibility_name(condition)
    number = not condition.ratio.free_symbols
    fails = Condition(condition.primitive**-1)
    strict = at_most_one(fails.primitive, strict=True)
    total = ONE
    for constraint in program.constraints:
        if constraint.name in condition.multipliers:
            total = total * constraint.ratio ** condition.multipliers[constraint.name]
    premises = premises_of([] if number else [fails], program.domain)
    reduced = premises.reduced(total**-1)
    witness = _witness([] if number else [condition.primitive], program)
    if reduced is None or witness is None:
        found.missing.append(name)
        return False
    names = {} if number else {fails.name: strict.name}
    excess = {names.get(n, n): e for n, e in reduced[0].items()}
    found.writer.infeasible(
        name, condition.multipliers, excess, [] if number else [strict], witness
    )
    return True


def _witness(strict: Sequence[Monomial], program: Program) -> Values | None:
    """Parameters of the domain at which monomials exceed 1."""
    found, _ = find_witness(
        strict, program.domain.at_least_one, program.parameters, program.domain
    )
    if found is None or any(s not in found for s in program.parameters):
        return None
    return found


def _piece(limit: Limit, piece: Piece, found: LimitTheorems) -> Sequence[Condition] | None:
    """A piece's bound, and the point that attains it in all of its region."""
    witness = witness_of(limit, piece)
    if witness is None:
        found.missing.append(piece.name)
        return None
    found.writer.bound(f"{piece.name}: bound", piece.bound, piece.multipliers, (), witness)
    point = limit.points[piece.name]
    if point is None:
        found.missing.append(piece.name)
        return None
    found.writer.attained(
        piece.name, piece.bound, point.values, _written(point, piece.region),
        _hypotheses(piece.region), witness,
    )
    return piece.region


def _written(
    point: RegionPoint, region: Sequence[Condition]
) -> dict[str, dict[str, sp.Expr]]:
    """The slacks of a point, with equalities by the names that their hypotheses have."""
    names = {c.name: is_one(c.primitive).name for c in region if c.equal}
    return {
        c: {names.get(n, n): e for n, e in powers.items()} for c, powers in point.slacks.items()
    }


def _unbounded(limit: Limit, found: LimitTheorems) -> Sequence[Condition] | None:
    """The direction along which the objective improves for ever, from a feasible point."""
    program, region = limit.program, limit.feasibility
    witness = _witness([c.primitive**-1 for c in region], program)
    point = region_point(program, (), premises_of(region, program.domain), witness)
    if witness is None or point is None:
        found.missing.append(UNBOUNDED)
        return None
    found.writer.unbounded(
        UNBOUNDED, limit.direction or {}, point.values, point.slacks, _hypotheses(region), witness
    )
    return region


def _cover(
    limit: Limit, told: Sequence[Condition], leaves: dict[str, Sequence[Condition] | None],
    found: LimitTheorems,
) -> None:
    """The cover: infeasible, or else the piece with the least value (greatest, for a minimum)."""
    program = limit.program
    numbers = [c for c in told if not c.ratio.free_symbols]
    equal = [c for p in limit.pieces for c in p.region if c.equal]
    equal = list({c.name: c for c in equal}.values())
    tied = {m for c in equal for m in (c.primitive, c.primitive**-1)}
    splits = [c for c in limit.feasibility if c.primitive not in tied]
    inside = [] if numbers else [c.primitive**-1 for c in limit.feasibility]
    witness: Values | None = _witness(inside, program)
    if not numbers:
        witness = next((w for p in limit.pieces if (w := witness_of(limit, p))), witness)
    splits = [] if numbers else splits
    names = {c.name for c in told}
    if witness is None or any(c.name not in names for c in splits):
        found.missing.append("cover")
        return
    tree: Tree | None
    if numbers:
        tree = Leaf(infeasibility_name(numbers[0]))
    else:
        tree = _cases(limit, leaves, [*splits, *equal])
    if tree is None:
        found.missing.append("cover")
        return
    for c in reversed(splits):
        positive = at_most_one(c.primitive)
        fails = at_most_one(c.primitive**-1, strict=True).name
        reason = (Summand(times={f"not {c.name}": 1}),)
        tree = Split(c.name, positive.terms, tree, Leaf(infeasibility_name(c), {fails: reason}))
    found.writer.cover("cover", tree, _hypotheses(equal), witness)


def _cases(
    limit: Limit, leaves: dict[str, Sequence[Condition] | None], path: Sequence[Condition]
) -> Tree | None:
    """One leaf, or one for each piece that may have the least value."""
    if not limit.pieces:
        return _leaf(limit.program, UNBOUNDED, leaves[UNBOUNDED], path, {})
    sense = 1 if limit.program.sense == "maximize" else -1
    values = {p.name: p.bound**sense for p in limit.pieces}
    cases = []
    for piece in limit.pieces:
        ruling = {
            f"{piece.name} <= {other}": values[piece.name] / value
            for other, value in values.items() if other != piece.name
        }
        case = _leaf(limit.program, piece.name, leaves[piece.name], path, ruling)
        if case is None:
            return None
        cases.append(case)
    return cases[0] if len(cases) == 1 else Least(values, tuple(cases))


def _leaf(
    program: Program, theorem: str, region: Sequence[Condition] | None,
    path: Sequence[Condition], ruling: dict[str, Monomial],
) -> Tree | None:
    """A theorem that applies in a case, with the reasons why; or why the case never is."""
    known = {c.name: c.primitive for c in (*path, *domain_conditions(program.domain))}
    known |= ruling
    equal = frozenset(c.name for c in path if c.equal)
    premises = Premises(known, program.domain, equal)
    names = {c.name: is_one(c.primitive).name for c in path if c.equal}
    if region is None:
        clash = premises.contradiction()
        return None if clash is None else Contradiction(clash)
    proofs = {}
    for c in region:
        if c.equal:
            continue
        powers = premises.powers(c.primitive)
        if powers is None:
            return None
        proofs[c.name] = {names.get(n, n): e for n, e in powers.items()}
    return Leaf(theorem, proofs)


def checked_data(limit: Limit, title: str) -> dict[str, object]:
    """The data of a file with all theorems about a limit.

    Raises:
        FormulaError: If not a single theorem could be written.
    """
    found = theorems_of(limit)
    data = found.writer.data(title)
    if not data["theorems"]:
        raise FormulaError("there is nothing to certify")
    return data
