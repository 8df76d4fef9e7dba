"""Derivations: lists of steps, each with its reason, each checked by the machine.

A step is given (an assumption or a definition), or follows: by a rewrite of an
expression, by replacing one side of a relation, by multiplying earlier relations
raised to powers, or by a certificate. `symscale.checks` verifies every one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.certificate import Certificate
from symscale.algebra.limit import Limit
from symscale.algebra.monomial import ONE, Monomial
from symscale.algebra.program import Constraint
from symscale.algebra.rewrite import Relation, Rewrite, relate
from symscale.costs.cost import Cost
from symscale.errors import FormulaError

Kind = Literal["definition", "assumption", "rewrite", "replacement", "product", "optimum"]


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
        rewrite: The rewrite that it makes, or by which it replaces a side.
        certificate: The certificate that it rests on.
    """

    key: str
    kind: Kind
    statement: Relational
    reason: str
    source: str = ""
    premises: Mapping[str, sp.Expr] = field(default_factory=dict)
    rewrite: Rewrite | None = None
    certificate: Certificate | None = None

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
    if isinstance(statement, sp.Eq):
        return "=="
    return "<=" if isinstance(statement, sp.Le) else ">="


def ratio_of(statement: Relational) -> Monomial:
    """Smaller side over greater side of a relation between monomials: at most 1."""
    left, right = Monomial.of(statement.lhs), Monomial.of(statement.rhs)
    return right / left if isinstance(statement, sp.Ge) else left / right


@dataclass(frozen=True)
class Table:
    """Numbers beside the formulas.

    Attributes:
        caption: What it shows.
        header: Column titles.
        rows: Cells: expressions print as formulas, everything else as text.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Derivation:
    """An argument from assumptions to a result.

    Attributes:
        name: Its slug.
        title: Its title.
        question: What it answers, in one or two sentences.
        steps: The steps.
        conclusion: What follows, in words.
        tables: Numbers.
        limit: The limit that it ends in, where it does.
    """

    name: str
    title: str
    question: str
    steps: tuple[Step, ...] = ()
    conclusion: str = ""
    tables: tuple[Table, ...] = ()
    limit: Limit | None = None

    def step(self, key: str) -> Step:
        """Return the step labelled `key`."""
        for step in self.steps:
            if step.key == key:
                return step
        raise FormulaError(f"{self.name}: no step is labelled {key!r}")

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
        >>> from symscale.symbols import symbols
        >>> T, N, C, t_d = symbols("T N C t_d")
        >>> build = DerivationBuilder("demo", "Demo", "How long?")
        >>> _ = build.assume("run", cost(T, "FLOP"), "<=", cost(N*C*t_d, "FLOP"), "in time")
        >>> build.product("devices", {"run": 1}, "solve for N", solve_for=N).statement
        N >= T/(C*t_d)
    """

    def __init__(self, name: str, title: str, question: str) -> None:
        """Start an empty derivation."""
        self._derivation = Derivation(name, title, question)

    def _add(self, step: Step) -> Step:
        if any(s.key == step.key for s in self._derivation.steps):
            raise FormulaError(f"two steps are labelled {step.key!r}")
        for key in step.premises:
            self._derivation.step(key)
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

    def rewrite(self, key: str, rewrite: Rewrite, reason: str = "") -> Step:
        """State a rewrite: `before relation after`."""
        return self._add(
            Step(key, "rewrite", rewrite.statement, reason or rewrite.reason, rewrite=rewrite)
        )

    def replace(self, key: str, premise: str, rewrite: Rewrite, reason: str) -> Step:
        """Replace the left side of an earlier `left <= right` by a rewritten one.

        The left side must be the rewrite's `before`, up to a factor. With a rewrite that
        grows it the new relation is sufficient for the old; with one that shrinks it,
        necessary.
        """
        old = self._derivation.step(premise).statement
        scale = sp.cancel(old.lhs / rewrite.before)
        statement = relate(sp.Mul(scale, rewrite.after), relation_of(old), old.rhs)
        return self._add(
            Step(
                key, "replacement", statement, reason, premises={premise: sp.Integer(1)},
                rewrite=rewrite,
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
        positive = bool(power.subs({s: 0 for s in power.free_symbols}).is_positive)
        relation: Relation = "==" if not strict else "<=" if positive else ">="
        statement = relate(solve_for, relation, rest.expr)
        return self._add(Step(key, "product", statement, reason, premises=weights))

    def attain(self, key: str, certificate: Certificate, reason: str) -> Step:
        """State that a bound is attained: at the certificate's point it is an equality."""
        objective = certificate.program.objective.expr
        statement = relate(objective, "==", certificate.bound.expr)
        return self._add(
            Step(key, "optimum", statement, reason, certificate=certificate)
        )

    def finish(
        self, conclusion: str = "", tables: tuple[Table, ...] = (), limit: Limit | None = None
    ) -> Derivation:
        """Return the derivation."""
        return replace(self._derivation, conclusion=conclusion, tables=tables, limit=limit)
