"""Theorems about limits: bounds, points in all of each region, what is infeasible, the cover."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from symscale.algebra.exact.domain import IndeterminateSignError
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
from symscale.algebra.products.points import (
    PointSplit,
    PointTree,
    RegionPoint,
    points_in,
    region_point,
    slacks_of,
)
from symscale.algebra.products.program import Program
from symscale.algebra.products.witness import witness_of

UNBOUNDED = "unbounded"


@dataclass(frozen=True)
class Part:
    """A theorem about a point, in its part of a region."""

    name: str
    point: RegionPoint
    region: tuple[Condition, ...]
    slacks: Mapping[str, Mapping[str, sp.Expr]]


@dataclass(frozen=True)
class Parts:
    """The theorems about a region's points, and how these divide it."""

    tree: PointTree | None
    parts: Sequence[Part]


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
    leaves: dict[str, Parts | None] = {}
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


def hypotheses(conditions: Sequence[Condition]) -> list[Hypothesis]:
    """What a region assumes, as certificates say it."""
    return [
        is_one(c.primitive) if c.equal else at_most_one(c.primitive, name=c.name)
        for c in conditions
    ]


def _told(condition: Condition) -> str:
    """What a condition is called in a theorem."""
    return is_one(condition.primitive).name if condition.equal else condition.name


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


def _piece(limit: Limit, piece: Piece, found: LimitTheorems) -> Parts | None:
    """A piece's bound, and the points that attain it in all of its region."""
    program = limit.program
    witness = witness_of(limit, piece)
    if witness is None:
        found.missing.append(piece.name)
        return None
    found.writer.bound(f"{piece.name}: bound", piece.bound, piece.multipliers, (), witness)
    parts = parts_of(piece.name, limit.points[piece.name], piece.region, program)
    for part in parts:
        at = part.point.witness if part.point.conditions else witness
        if at is None or any(s not in at for s in program.parameters):
            found.missing.append(part.name)
            return None
        found.writer.attained(
            part.name, piece.bound, part.point.values, part.slacks, hypotheses(part.region), at
        )
    if not parts:
        found.missing.append(piece.name)
    return Parts(limit.points[piece.name], parts) if parts else None


def parts_of(
    name: str, tree: PointTree | None, region: Sequence[Condition], program: Program
) -> list[Part]:
    """One theorem for each point, with the slacks in terms of its own region's conditions."""
    points = points_in(tree)
    found = []
    for number, point in enumerate(points, 1):
        extra = [Condition(m) for m in point.conditions]
        every = {c.name: c for c in (*extra, *region)}
        premises = premises_of(list(every.values()), program.domain)
        dropped = premises.redundant([c.name for c in every.values() if not c.equal])
        kept = tuple(c for n, c in every.items() if n not in dropped)
        slacks, _ = slacks_of(
            program.constraints, point.values, premises_of(kept, program.domain)
        )
        names = {c.name: _told(c) for c in kept}
        told = {c: {names.get(n, n): e for n, e in p.items()} for c, p in slacks.items()}
        label = name if len(points) == 1 else f"{name} (part {number})"
        found.append(Part(label, point, kept, told))
    return found


def _unbounded(limit: Limit, found: LimitTheorems) -> Parts | None:
    """The direction along which the objective improves for ever, from feasible points."""
    program, region = limit.program, limit.feasibility
    witness = _witness([c.primitive**-1 for c in region], program)
    tree = None
    if _goes_on(limit):
        anywhere = replace(program, objective=ONE)  # any feasible point will do
        tree = region_point(anywhere, (), premises_of(region, program.domain), witness)
    parts = parts_of(UNBOUNDED, tree, region, program)
    for part in parts:
        at = part.point.witness if part.point.conditions else witness
        if at is None:
            parts = []
            break
        found.writer.unbounded(
            part.name, limit.direction or {}, part.point.values, part.slacks,
            hypotheses(part.region), at,
        )
    if not parts:
        found.missing.append(UNBOUNDED)
    return Parts(tree, parts) if parts else None


def _goes_on(limit: Limit) -> bool:
    """Whether the direction, found at sample exponents, is one for all of them."""
    program, moves = limit.program, limit.direction or {}
    sense = 1 if program.sense == "maximize" else -1

    def slope(monomial: Monomial) -> int:
        total = sum((monomial.exponent(x) * e for x, e in moves.items()), sp.Integer(0))
        return program.domain.sign(sp.cancel(total))

    try:
        return sense * slope(program.objective) > 0 and all(
            (slope(c.ratio) == 0 if c.is_equality else slope(c.ratio) <= 0)
            for c in program.constraints
        )
    except IndeterminateSignError:
        return False


def _cover(
    limit: Limit, told: Sequence[Condition], leaves: Mapping[str, Parts | None],
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
    found.writer.cover("cover", tree, hypotheses(equal), witness)


def _cases(
    limit: Limit, leaves: Mapping[str, Parts | None], path: Sequence[Condition]
) -> Tree | None:
    """One leaf, or one for each piece that may have the least value."""
    program = limit.program
    known = {_told(c): c.primitive for c in (*path, *domain_conditions(program.domain))}
    equal = frozenset(_told(c) for c in path if c.equal)
    if not limit.pieces:
        return _leaf(leaves[UNBOUNDED], Premises(known, program.domain, equal))
    sense = 1 if program.sense == "maximize" else -1
    values = {f"value {k}": p.bound**sense for k, p in enumerate(limit.pieces, 1)}
    cases = []
    for piece, (name, value) in zip(limit.pieces, values.items(), strict=True):
        ruling = {f"{name} <= {n}": value / v for n, v in values.items() if n != name}
        case = _leaf(leaves[piece.name], Premises({**known, **ruling}, program.domain, equal))
        if case is None:
            return None
        cases.append(case)
    return cases[0] if len(cases) == 1 else Least(values, tuple(cases))


def _leaf(parts: Parts | None, premises: Premises) -> Tree | None:
    """The theorems that apply in a case, with the reasons why; or why the case never is."""
    if parts is None or parts.tree is None:
        clash = premises.contradiction()
        return None if clash is None else Contradiction(clash)
    return _of_part(parts.tree, iter(parts.parts), premises, 1)


def _of_part(
    tree: PointTree, parts: Iterator[Part], premises: Premises, depth: int
) -> Tree | None:
    if isinstance(tree, PointSplit):
        name = f"part {depth}"
        sides = []
        for ratio, label in ((tree.ratio, name), (tree.ratio**-1, f"not {name}")):
            inner = Premises({**premises.given, label: ratio}, premises.domain, premises.equal)
            sides.append(_of_part(tree.yes if label == name else tree.no, parts, inner, depth + 1))
        if sides[0] is None or sides[1] is None:
            return None
        return Split(name, at_most_one(tree.ratio).terms, sides[0], sides[1])
    part = next(parts)
    proofs: dict[str, Mapping[str, sp.Expr]] = {}
    for c in part.region:
        if not c.equal:
            powers = premises.powers(c.primitive)
            if powers is None:
                return None
            proofs[c.name] = powers
    return Leaf(part.name, proofs)
