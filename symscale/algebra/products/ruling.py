"""Where pieces rule: regions without empty or flat ones, and without what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.regions import find_witness
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.limit import Condition, Piece, domain_conditions, premises_of
from symscale.algebra.products.program import Program


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


def prune(found: Feasible, pieces: Sequence[Piece]) -> list[Piece]:
    """Leave out pieces that rule nowhere, or only where another does as well.

    The others get a witness where they rule. With exponent symbols one is looked for at
    sample exponents; a piece without one is left out only where that is shown.
    """
    sense = 1 if found.program.sense == "maximize" else -1
    kept = list(pieces)
    for piece in sorted(pieces, key=lambda p: -len(p.multipliers)):
        others = [p for p in kept if p is not piece]
        strict = [(p.bound / piece.bound) ** sense for p in others]
        witness, proven = found.witness(strict)
        if witness is None and others and (proven or _flat(found, strict)):
            kept = others
        else:
            kept = [p if p is not piece else replace(piece, witness=witness) for p in kept]
    return kept


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


def with_regions(found: Feasible, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Give each piece the conditions under which it rules, without those that follow."""
    if found.impossible:
        return tuple(replace(p, region=found.conditions) for p in pieces)
    sense = 1 if found.program.sense == "maximize" else -1
    domain = found.program.domain
    result = []
    for piece in pieces:
        ruling: dict[str, Condition] = {}
        for other in pieces:
            if other is not piece:
                ratio = simplest((piece.bound / other.bound) ** sense, domain)
                condition = Condition(ratio, {}, other.name)
                ruling.setdefault(condition.name, condition)
        declared = {c.name for c in domain_conditions(domain)}
        ruled = (c for c in ruling.values() if c.name not in declared)
        region = [*ruled, *_feasible_region(found)]
        names = [c.name for c in region if c.equal]
        premises = premises_of(region, domain, found.equal)
        order = sorted(
            (c for c in region if not c.equal),
            key=lambda c: (not c.against, -len(c.ratio.powers), c.name),
        )
        dropped = set(premises.redundant([*names, *(c.name for c in order)]))
        result.append(replace(piece, region=tuple(c for c in region if c.name not in dropped)))
    return tuple(result)


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
