"""Where pieces rule: regions without empty or flat ones, and without what follows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.regions import find_witness
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.limit import Condition, Piece, domain_conditions, premises_of
from symscale.algebra.products.program import Program

if TYPE_CHECKING:
    from symscale.algebra.products.competition import Competition, Rivals

_MANY = 8  # pieces from which on it is worth to load NumPy


@dataclass(frozen=True)
class Feasible:
    """The parameters at which a program has a feasible point.

    Attributes:
        program: The program.
        conditions: What they must satisfy, none of which follows from the others and the
            domain; where all contradict each other, a number above 1 comes first.
        equal: The names of those, and of the domain's, that can only hold with equality.
    """

    program: Program
    conditions: tuple[Condition, ...]
    equal: frozenset[str] = frozenset()

    @cached_property
    def symbolic(self) -> bool:
        """Whether symbols stand in exponents."""
        domain = self.program.domain
        return bool(self.program.exponent_symbols or domain.exponents) or any(
            m.exponent_symbols for m in domain.at_least_one
        )

    @property
    def impossible(self) -> bool:
        """Whether there are none."""
        return any(not c.ratio.free_symbols for c in self.conditions)

    def witness(
        self, strict: Sequence[Monomial]
    ) -> tuple[dict[sp.Symbol, sp.Rational] | None, bool]:
        """Parameters at which monomials exceed 1, inside of all that can be strict.

        Returns:
            As `find_witness`.
        """
        every = [*self.conditions, *domain_conditions(self.program.domain)]
        within = [c.ratio**-1 for c in every if c.name not in self.equal]
        weak = [c.ratio**-1 for c in every if c.name in self.equal]
        return find_witness(
            [*strict, *within], weak, self.program.parameters, self.program.domain
        )


def feasible(program: Program, conditions: Sequence[Condition]) -> Feasible:
    """Find what of some conditions is needed, what contradicts, and what is equal.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> J, K = symbols("J K")
        >>> program = Program("demo", "", "minimize", Monomial.of(J), (), ())
        >>> found = feasible(program, [Condition(Monomial.of(r)) for r in (J/K, J/(2*K))])
        >>> [c.name for c in found.conditions]
        ['J <= K']
    """
    bounds = domain_conditions(program.domain)
    declared = {c.name for c in bounds}
    several = {c.name: c for c in reversed(conditions) if c.name not in declared}
    conditions = list(several.values())[::-1]
    numbers = [c for c in conditions if not c.ratio.free_symbols]
    if numbers:
        return Feasible(program, tuple(numbers[:1]))
    premises = premises_of(conditions, program.domain)
    everything = Feasible(program, tuple(conditions))
    if not conditions or everything.witness(())[0] is not None:
        equal: frozenset[str] = frozenset()
    else:
        clash = premises.contradiction()
        if clash is not None:
            return Feasible(program, (_clash(premises, clash, conditions),))
        names = [c.name for c in (*conditions, *bounds)]
        opposite = ((n, premises.given[n] ** -1) for n in names)
        equal = frozenset(n for n, m in opposite if premises.without(n).powers(m) is not None)
    order = sorted(conditions, key=lambda c: (-len(c.ratio.powers), c.name))
    dropped = set(premises.redundant([c.name for c in order]))
    kept = tuple(c for c in conditions if c.name not in dropped)
    return Feasible(program, kept, equal)


def _clash(
    premises: Premises, powers: Mapping[str, sp.Expr], conditions: Sequence[Condition]
) -> Condition:
    """The contradiction to which conditions, and bounds of parameters, multiply."""
    multipliers: dict[str, sp.Expr] = {}
    binding: list[str] = []
    for c in conditions:
        power = powers.get(c.name, sp.Integer(0))
        if power == 0:
            continue
        binding += [b for b in c.binding if b not in binding]
        for name, weight in c.multipliers.items():
            scaled = weight * power / c.scale
            multipliers[name] = multipliers.get(name, sp.Integer(0)) + scaled
    return Condition(premises.product(powers), multipliers, binding=tuple(binding))


@dataclass(frozen=True)
class Pruned:
    """Pieces that rule somewhere, and what was found of where.

    Attributes:
        pieces: The pieces.
        witnesses: By their bounds: parameters at which they rule, where that was asked.
        competition: What decided it where there were many.
    """

    pieces: tuple[Piece, ...]
    witnesses: Mapping[Monomial, Mapping[sp.Symbol, sp.Rational] | None]
    competition: "Competition | None" = None


def prune(found: Feasible, pieces: Sequence[Piece]) -> Pruned:
    """Leave out pieces that rule nowhere, or only where another does as well.

    The others get a witness where they rule. With exponent symbols one is looked for at
    sample exponents; a piece without one is left out only where that is shown.
    """
    if found.impossible:
        return Pruned(tuple(pieces), {})
    competition, kept = None, list(pieces)
    if len(pieces) >= _MANY and not found.equal and not found.symbolic:
        from symscale.algebra.products.competition import compete  # loads NumPy

        competition = compete(found.program, found.conditions, [p.bound for p in pieces])
    if competition is not None:
        kept = [p for p in kept if p.bound not in competition.lost]
    sense = 1 if found.program.sense == "maximize" else -1
    witnesses = {}
    for piece in sorted(kept, key=lambda p: -len(p.multipliers)):
        if competition is not None and piece.bound in competition.inside:
            continue
        others = [p for p in kept if p is not piece]
        strict = [(p.bound / piece.bound) ** sense for p in others]
        witness, proven = found.witness(strict)
        if witness is None and others and (proven or _flat(found, strict)):
            kept = others
        else:
            witnesses[piece.bound] = witness
    return Pruned(tuple(kept), witnesses, competition)


def _flat(found: Feasible, strict: Sequence[Monomial]) -> bool:
    """Whether it is shown that monomials cannot all exceed 1."""
    bounds = domain_conditions(found.program.domain)
    base = {c.name: c.primitive for c in (*found.conditions, *bounds)}
    for index, monomial in enumerate(strict):
        rest = {f"{k}": m**-1 for k, m in enumerate(strict) if k != index}
        premises = Premises({**base, **rest}, found.program.domain, found.equal)
        if premises.powers(monomial) is not None:
            return True
    return False


def with_rules(found: Feasible, pruned: Pruned, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Let each piece know the others, and so where it rules."""
    rules = _Among(found, pruned, tuple(pieces))
    result = tuple(replace(p, rules=rules) for p in pieces)
    if found.symbolic:  # that they have one form is part of the answer
        for piece in result:
            _ = piece.region
    return result


@dataclass(frozen=True)
class _Among:
    """Where each of some pieces rules."""

    found: Feasible
    pruned: Pruned
    pieces: tuple[Piece, ...]

    def witness(self, piece: Piece) -> Mapping[sp.Symbol, sp.Rational] | None:
        """Parameters at which a piece rules strictly, where some are found."""
        if self.found.impossible or piece.bound in self.pruned.witnesses:
            return self.pruned.witnesses.get(piece.bound)
        competition = self.pruned.competition
        near = competition.witness(piece.bound) if competition is not None else None
        if near is not None:
            return near
        sense = 1 if self.found.program.sense == "maximize" else -1
        others = (p.bound for p in self.pieces if p.bound != piece.bound)
        return self.found.witness([(m / piece.bound) ** sense for m in others])[0]

    def region(self, piece: Piece) -> tuple[Condition, ...]:
        """The conditions under which a piece rules, without those that follow."""
        if self.found.impossible:
            return self.found.conditions
        competition = self.pruned.competition
        if competition is None or piece.bound not in competition.inside:
            return self._without_redundant(self._conditions(piece))
        found = [
            (
                self.found.conditions[by] if isinstance(by, int)
                else self._against(piece, self._by_bound[by]),
                unsure,
            )
            for by, unsure in self._rivals.region(piece.bound)
        ]
        return self._without_redundant(
            [c for c, _ in found], frozenset(c.primitive for c, unsure in found if unsure)
        )

    @cached_property
    def _rivals(self) -> "Rivals":
        assert self.pruned.competition is not None  # noqa: S101  # asked only where it is
        return self.pruned.competition.among(tuple(self._by_bound))

    @cached_property
    def _by_bound(self) -> Mapping[Monomial, Piece]:
        return {p.bound: p for p in self.pieces}

    def _against(self, piece: Piece, other: Piece) -> Condition:
        """Where a piece's bound is no looser than another's."""
        program = self.found.program
        sense = 1 if program.sense == "maximize" else -1
        ratio = simplest((piece.bound / other.bound) ** sense, program.domain)
        return Condition(ratio, {}, other.name)

    def _conditions(self, piece: Piece) -> list[Condition]:
        """All conditions under which a piece rules."""
        domain = self.found.program.domain
        ruling: dict[str, Condition] = {}
        for other in self.pieces:
            if other.bound != piece.bound:
                condition = self._against(piece, other)
                ruling.setdefault(condition.name, condition)
        declared = {c.name for c in domain_conditions(domain)}
        ruled = [c for c in ruling.values() if c.name not in declared]
        return [*ruled, *_feasible_region(self.found)]

    def _without_redundant(
        self, region: Sequence[Condition], asked: Collection[Monomial] | None = None
    ) -> tuple[Condition, ...]:
        """Without what follows from the others, among those that are asked for, or all."""
        if asked is not None and not asked:
            return tuple(region)
        some = [c for c in region if asked is None or c.primitive in asked]
        names = [c.name for c in some if c.equal]
        premises = premises_of(region, self.found.program.domain, self.found.equal)
        order = sorted(
            (c for c in some if not c.equal),
            key=lambda c: (not c.against, -len(c.ratio.powers), c.name),
        )
        dropped = set(premises.redundant([*names, *(c.name for c in order)]))
        return tuple(c for c in region if c.name not in dropped)


def _feasible_region(found: Feasible) -> list[Condition]:
    """The conditions of feasibility, each pair of opposite ones as one equality."""
    result: list[Condition] = []
    for c in found.conditions:
        if c.name not in found.equal:
            result.append(c)
        elif not any(c.primitive in (r.primitive, r.primitive**-1) for r in result):
            result.append(replace(c, equal=True))
    return result


def simplest(ratio: Monomial, domain: Domain) -> Monomial:
    """The power of a ratio, positive, that has the plainest exponents; `<= 1` means the same."""
    root = ratio.common_exponent
    if domain.sign(root) < 0:
        root = -root
    ratio = ratio ** (1 / root)
    return ratio ** (1 / ratio.content)
