"""Derivations: lists of steps, each with its reason, each checked by the machine.

A step is given (an assumption or a definition), or follows: by a rewrite of an
expression, by replacing one side of a relation, by multiplying earlier relations
raised to powers, by a certificate, or by choosing the point where a sum is least.
`symscale.derivation.checks` verifies every one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.certify.theorems import PieceProof
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.limit import Condition, Limit
from symscale.algebra.products.program import Constraint
from symscale.algebra.rewrites.rewrite import Relation, Rewrite, relate
from symscale.answers import Shown
from symscale.costs.cost import Cost
from symscale.derivation.regions import at_meeting, intervals
from symscale.errors import FormulaError

Kind = Literal[
    "definition", "assumption", "rewrite", "replacement", "product", "optimum", "meeting", "choice"
]
Logic = Literal["follows", "suffices", "necessary"]
"""How a step stands to what was given: it follows from it, or implies it.

A step that suffices may then be replaced by a weaker one only where some choice
makes both equal, so that it still suffices for the best choice.
"""


@dataclass(frozen=True)
class Step:
    """One step of a derivation.

    Attributes:
        key: Its label.
        kind: How it comes about.
        statement: What it says, a SymPy relation.
        reason: Why.
        source: Key of a source, or "".
        premises: Earlier steps it uses; in a product, the power of each.
        rewrite: The rewrite that it makes, by which it replaces a side, or in which the
            choice makes both sides equal.
        proof: The proof that it rests on.
        logic: Whether it follows from its premises, or suffices for them.
        region: Intervals of exponents that it rests on, and where two bounds that meet rule.
    """

    key: str
    kind: Kind
    statement: Relational
    reason: str
    source: str = ""
    premises: Mapping[str, sp.Expr] = field(default_factory=dict)
    rewrite: Rewrite | None = None
    proof: PieceProof | None = None
    logic: Logic = "follows"
    region: tuple[Relational, ...] = ()

    @property
    def conditions(self) -> tuple[Relational, ...]:
        """Where it holds, an optimum is attained, or a choice allowed."""
        own: tuple[Relational, ...] = ()
        if self.proof is not None:
            own = tuple(Condition(c).relational for c in self.proof.conditions)
        elif self.rewrite is not None:
            given = self.rewrite.admissible if self.kind == "choice" else self.rewrite.conditions
            own = tuple(c for c in given if isinstance(c, Relational))
        return (*own, *self.region)

    @property
    def is_given(self) -> bool:
        """Whether it is assumed or defined rather than derived."""
        return self.kind in ("definition", "assumption")

    @property
    def relation(self) -> Relation:
        """Its relation sign."""
        return relation_of(self.statement)


def relation_of(statement: Relational) -> Relation:
    """The sign of a SymPy relation."""
    for kind, sign in _SIGNS.items():
        if isinstance(statement, kind):
            return sign
    raise FormulaError(f"{statement} is not a relation with =, <= or >=")


_SIGNS: dict[type, Relation] = {sp.Eq: "==", sp.Le: "<=", sp.Ge: ">="}


def ratio_of(statement: Relational) -> Monomial:
    """Smaller side over greater side of a relation between monomials: at most 1."""
    left, right = Monomial.of(statement.lhs), Monomial.of(statement.rhs)
    return right / left if isinstance(statement, sp.Ge) else left / right


def logic_of_replacement(old: Step, rewrite: Rewrite) -> Logic:
    """How a relation with a rewritten left side stands to what was given.

    Raises:
        FormulaError: If an inexact rewrite meets an equality or a >=, or a necessary
            condition would be replaced by a sufficient one.
    """
    if rewrite.relation == "==":
        return old.logic
    if old.relation != "<=":
        raise FormulaError(f"an inexact rewrite needs a <=, and {old.key!r} is none")
    if rewrite.relation == "<=":
        if old.logic == "necessary":
            raise FormulaError(f"{old.key!r} is necessary only; nothing can suffice for it")
        return "suffices"
    if old.logic == "suffices" and not rewrite.equality:
        raise FormulaError(f"{old.key!r} suffices; a weaker relation does not")
    return old.logic if old.logic == "suffices" else "necessary"


def logic_of_product(premises: Sequence[Step]) -> Logic:
    """How a product of relations stands to what was given.

    Raises:
        FormulaError: If a relation that suffices is multiplied with another inequality.
    """
    inequalities = [p for p in premises if p.relation != "=="]
    sufficient = [p for p in inequalities if p.logic == "suffices"]
    if sufficient and len(inequalities) > 1:
        raise FormulaError(f"{sufficient[0].key!r} suffices, but its product with others does not")
    return "suffices" if sufficient else "follows"


@dataclass(frozen=True)
class NumbersTable:
    """Numbers beside the formulas.

    Attributes:
        caption: What it shows.
        header: Column titles.
        rows: Cells: expressions print as formulas, everything else as text.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, eq=False)  # one is made once, and what its checks find is kept
class Derivation(Shown):
    """An argument from assumptions to a result.

    Attributes:
        name: Its slug.
        title: Its title.
        question: What it answers, in one or two sentences.
        steps: The steps.
        conclusion: What follows, in words.
        tables: Numbers.
        limit: The limit that it ends in, where it does.
        domain: Where exponent symbols live; signs of powers are decided over it.
    """

    name: str
    title: str
    question: str
    steps: tuple[Step, ...] = ()
    conclusion: str = ""
    tables: tuple[NumbersTable, ...] = ()
    limit: Limit | None = None
    domain: Domain = field(default_factory=Domain)

    def step(self, key: str) -> Step:
        """Return the step labelled `key`."""
        for step in self.steps:
            if step.key == key:
                return step
        raise FormulaError(f"{self.name}: no step is labelled {key!r}")

    def region_of(self, step: Step) -> tuple[Relational, ...]:
        """What a step of it must say of where it holds, beside its rewrite or proof."""
        if step.is_given:
            return ()
        region = intervals(self.domain, step.statement, step.premises.values())
        if step.kind == "meeting" and isinstance(step.statement.lhs, sp.Symbol):
            proofs = [self.step(key).proof for key in step.premises]
            ratios = [c for p in proofs if p is not None for c in p.conditions]
            region = (*at_meeting(ratios, step.statement.lhs, step.statement.rhs), *region)
        return region

    @property
    def result(self) -> Relational:
        """The statement of the last step."""
        return self.steps[-1].statement

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """All symbols of its statements."""
        return {
            s for step in self.steps for s in step.statement.free_symbols
            if isinstance(s, sp.Symbol)
        }

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the sources that its steps name, in order."""
        return tuple(dict.fromkeys(s.source for s in self.steps if s.source))


class DerivationBuilder:
    """Collects the steps of a derivation; each method returns the step it adds.

    Example:
        >>> from symscale.costs.cost import cost
        >>> from symscale.language.symbols import symbols
        >>> T, N, C, t_d = symbols("T N C t_d")
        >>> build = DerivationBuilder("demo", "Demo", "How long?")
        >>> _ = build.assume("run", cost(T, "FLOP"), "<=", cost(N*C*t_d, "FLOP"), "in time")
        >>> build.product("devices", {"run": 1}, "solve for N", solve_for=N).statement
        N >= T/(C*t_d)
    """

    def __init__(
        self, name: str, title: str, question: str, domain: Domain | None = None
    ) -> None:
        """Start an empty derivation; `domain` says where exponent symbols live."""
        self._derivation = Derivation(name, title, question, domain=domain or Domain())

    def _add(self, step: Step) -> Step:
        if any(s.key == step.key for s in self._derivation.steps):
            raise FormulaError(f"two steps are labelled {step.key!r}")
        for key in step.premises:
            self._derivation.step(key)
        step = replace(step, region=self._derivation.region_of(step))
        self._derivation = replace(self._derivation, steps=(*self._derivation.steps, step))
        return step

    def define(
        self, key: str, left: Cost, right: Cost, reason: str, source: str = ""
    ) -> Step:
        """Define a symbol: `left == right`, of the same unit."""
        left.require_same_unit(right)
        statement = relate(left.expr, "==", right.expr)
        return self._add(Step(key, "definition", statement, reason, source))

    def assume(
        self, key: str, left: Cost, relation: Relation, right: Cost, reason: str, source: str = ""
    ) -> Step:
        """Assume a relation between costs of the same unit."""
        left.require_same_unit(right)
        statement = relate(left.expr, relation, right.expr)
        return self._add(Step(key, "assumption", statement, reason, source))

    def assume_constraint(self, constraint: Constraint) -> Step:
        """Assume a constraint of a program, whose units were checked where it was made."""
        kind: Kind = "definition" if constraint.is_equality else "assumption"
        return self._add(
            Step(
                constraint.name, kind, constraint.relational, constraint.reason, constraint.source
            )
        )

    def rewrite(
        self, key: str, rewrite: Rewrite, reason: str = "", premises: Sequence[str] = ()
    ) -> Step:
        """State a rewrite: `before relation after`.

        Args:
            key: The step's label.
            rewrite: The rewrite.
            reason: Why; by default the rewrite's own reason.
            premises: The definitions that its facts come from.
        """
        return self._add(
            Step(
                key, "rewrite", rewrite.statement, reason or rewrite.reason,
                premises=dict.fromkeys(premises, sp.Integer(1)), rewrite=rewrite,
            )
        )

    def replace(
        self, key: str, premise: str, rewrite: Rewrite, reason: str, facts: Sequence[str] = ()
    ) -> Step:
        """Replace the left side of an earlier `left <= right` by a rewritten one.

        The left side must be the rewrite's `before`, up to a positive factor. With a
        rewrite that grows it the new relation suffices for the old. With one that
        shrinks it the new relation is necessary; where the rewrite says when both sides
        are equal, it also suffices for that choice.

        Args:
            key: The step's label.
            premise: The relation.
            rewrite: The rewrite.
            reason: Why.
            facts: The definitions that the rewrite's facts come from.
        """
        old = self._derivation.step(premise)
        scale = sp.cancel(old.statement.lhs / rewrite.before)
        statement = relate(sp.Mul(scale, rewrite.after), old.relation, old.statement.rhs)
        premises = dict.fromkeys((premise, *facts), sp.Integer(1))
        return self._add(
            Step(
                key, "replacement", statement, reason, premises=premises, rewrite=rewrite,
                logic=logic_of_replacement(old, rewrite),
            )
        )

    def product(
        self,
        key: str,
        premises: Mapping[str, sp.Expr | int],
        reason: str,
        *,
        solve_for: sp.Expr,
    ) -> Step:
        """Multiply earlier relations, raised to powers, and solve the product for a symbol.

        Raises:
            FormulaError: If the symbol does not occur in the product.
        """
        weights = {
            k: sp.Integer(v) if isinstance(v, int) else v for k, v in premises.items()
        }
        product, strict = ONE, False
        for name, weight in weights.items():
            step = self._derivation.step(name)
            product = product * ratio_of(step.statement) ** weight
            strict = strict or step.relation != "=="
        target = Monomial.of(solve_for)
        (atom,) = target.atoms
        power = product.exponent(atom)
        if power == 0:
            raise FormulaError(f"{key}: {solve_for} does not occur in the product")
        rest = target / product ** (1 / power)
        rising = strict and self._derivation.domain.sign(power) > 0
        relation: Relation = "==" if not strict else "<=" if rising else ">="
        statement = relate(solve_for, relation, rest.expr)
        logic = logic_of_product([self._derivation.step(k) for k in weights])
        return self._add(Step(key, "product", statement, reason, premises=weights, logic=logic))

    def meet(self, key: str, first: str, second: str, reason: str, *, solve_for: sp.Expr) -> Step:
        """State where two attained bounds are equal, solved for a symbol."""
        one, other = (ratio_of(self._derivation.step(k).statement) for k in (first, second))
        ratio = other / one
        (atom,) = Monomial.of(solve_for).atoms
        rest = Monomial.of(solve_for) / ratio ** (1 / ratio.exponent(atom))
        premises = {first: sp.Integer(-1), second: sp.Integer(1)}
        statement = relate(solve_for, "==", rest.expr)
        return self._add(Step(key, "meeting", statement, reason, premises=premises))

    def choose(self, key: str, premise: str, x: sp.Symbol, reason: str) -> Step:
        """Choose a variable so that the sum of an earlier step is least.

        Args:
            key: The step's label.
            premise: A rewrite or replacement by a minimum.
            x: One of its variables.
            reason: Why.

        Raises:
            FormulaError: If the earlier step has no minimum over this variable.
        """
        rewrite = self._derivation.step(premise).rewrite
        if rewrite is None or rewrite.minimum is None or x not in rewrite.minimum.point:
            raise FormulaError(f"{premise!r} is no minimum over {x}")
        return self._add(
            Step(
                key, "choice", relate(x, "==", rewrite.minimum.point[x]), reason,
                premises={premise: sp.Integer(1)}, rewrite=rewrite,
            )
        )

    def attain(self, key: str, proof: PieceProof, reason: str) -> Step:
        """State that a bound is attained: at the proof's point it is an equality."""
        objective = proof.program.objective.expr
        statement = relate(objective, "==", proof.bound.expr)
        return self._add(
            Step(key, "optimum", statement, reason, proof=proof)
        )

    def finish(
        self,
        conclusion: str = "",
        tables: tuple[NumbersTable, ...] = (),
        limit: Limit | None = None,
    ) -> Derivation:
        """Return the derivation."""
        return replace(self._derivation, conclusion=conclusion, tables=tables, limit=limit)
