"""Problems of one's own: variables, parameters, an objective, relations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sp

from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Sense
from symscale.algebra.reading.nodes import AlternativeError
from symscale.algebra.reading.relations import constraints_of, objective_of
from symscale.algebra.reading.scope import Scope
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.errors import FormulaError, InfeasibleError, UnitError
from symscale.language.dimensions import CountedLiteral, compare_units, unit_of
from symscale.language.letters import latex_of_name
from symscale.language.symbols import Notation
from symscale.language.units import Unit, parse_quantity, parse_unit


@dataclass(frozen=True)
class WrittenRelation:
    """A constraint as it was written.

    Attributes:
        name: Its name.
        left: Left-hand side.
        operator: "<=", ">=" or "==".
        right: Right-hand side.
        reason: Why it holds.
        source: Where it is from.
    """

    name: str
    left: sp.Expr
    operator: str
    right: sp.Expr
    reason: str = ""
    source: str = ""

    @property
    def relational(self) -> sp.Basic:
        """The relation as SymPy prints it."""
        kinds: dict[str, Any] = {"<=": sp.Le, ">=": sp.Ge, "==": sp.Eq}
        kind = kinds[self.operator]
        return kind(self.left, self.right, evaluate=False)


@dataclass(frozen=True)
class ProblemSymbol:
    """A variable or parameter of a problem.

    Attributes:
        entry: Its name, unit, LaTeX and meaning.
        default: Its value, for a parameter that has one; a number.
        lower: Lower bound.
        upper: Upper bound.
        integer: Whether only whole numbers make sense.
        given_in: The unit of a bare number that a user gives; "": the entry's own.
    """

    entry: Notation
    default: sp.Rational | None = None
    lower: sp.Rational | None = None
    upper: sp.Rational | None = None
    integer: bool = False
    given_in: str = ""

    def read(self, text: str) -> sp.Rational:
        """Return a number with or without unit, in the entry's unit.

        Raises:
            ParseError: If the text is no number.
            UnitError: If its unit does not fit.
        """
        unit = parse_unit(self.given_in or self.entry.unit)
        value = parse_quantity(text).to(unit) * unit.factor_to(parse_unit(self.entry.unit))
        return sp.Rational(value.numerator, value.denominator)

    @property
    def symbol(self) -> sp.Symbol:
        """Its symbol."""
        return self.entry.symbol


@dataclass(frozen=True)
class Definition:
    """A name for an expression whose unit its symbols do not tell, such as a count of words.

    Attributes:
        entry: The name and its unit.
        expr: What it stands for.
    """

    entry: Notation
    expr: sp.Expr


@dataclass(frozen=True)
class Problem:
    """The least or greatest value of an expression under relations.

    Attributes:
        title: Its title.
        sense: "maximize" or "minimize".
        objective: The expression.
        variables: The unknowns.
        parameters: What is given.
        relations: The constraints, without the bounds of variables.
        check_units: Whether units must fit.
        definitions: Names that stand for expressions: units are checked with the name's
            own, everything else is done with the expression.

    Raises:
        UnitError: If units do not fit; the text names both.

    Example:
        >>> from symscale.language.symbols import Notation
        >>> x, M = (ProblemSymbol(Notation(n, "s", n, n)) for n in ("x", "M"))
        >>> t_c = ProblemSymbol(Notation("t_c", "s", "t_c", "time of a checkpoint"))
        >>> problem = Problem(
        ...     "Checkpoints", "minimize",
        ...     t_c.symbol/x.symbol + x.symbol/(2*M.symbol), (x,), (M, t_c), ())
        >>> sorted(str(term.expr) for term in problem.program().objective)
        ['t_c/x', 'x/(2*M)']
    """

    title: str
    sense: Sense
    objective: sp.Expr
    variables: tuple[ProblemSymbol, ...]
    parameters: tuple[ProblemSymbol, ...]
    relations: tuple[WrittenRelation, ...]
    check_units: bool = True
    definitions: tuple[Definition, ...] = ()

    def __post_init__(self) -> None:
        """Check the units of the objective and of every relation."""
        _ = self.counted_literals

    @cached_property
    def counted_literals(self) -> dict[str, tuple[CountedLiteral, ...]]:
        """The numbers that stand for a count of FLOP, by constraint, or "objective"."""
        if not self.check_units:
            return {}
        found: dict[str, list[CountedLiteral]] = {"objective": []}
        unit_of(self.objective, self.units, found["objective"])
        for relation in self.relations:  # a bound is in its variable's own unit
            counted = found.setdefault(relation.name, [])
            try:
                compare_units(relation.left, relation.right, self.units, counted)
            except UnitError as error:
                raise error.with_context(f"constraint {relation.name!r}") from None
        return {name: tuple(dict.fromkeys(counted)) for name, counted in found.items() if counted}

    @cached_property
    def divisors(self) -> tuple[sp.Expr, ...]:
        """Differences in the variables that something is divided by: taken to be positive."""
        unknowns = {q.symbol for q in self.variables}
        sides = [self.objective, *(e for r in self.relations for e in (r.left, r.right))]
        found = {
            power.base
            for side in sides for power in self.spelled_out(side).atoms(sp.Pow)
            if power.exp.is_negative and power.base.is_Add and power.base.free_symbols & unknowns
            and any(t.could_extract_minus_sign() for t in power.base.args)
        }
        return tuple(sorted(found, key=str))

    @cached_property
    def units(self) -> dict[sp.Symbol, Unit]:
        """The unit of each symbol."""
        entries = [q.entry for q in (*self.variables, *self.parameters)]
        entries += [d.entry for d in self.definitions]
        return {e.symbol: parse_unit(e.unit) for e in entries}

    @property
    def own_names(self) -> dict[str, str]:
        """LaTeX of the names for which the problem gives some."""
        entries = (q.entry for q in (*self.variables, *self.parameters))
        return {e.name: e.latex for e in entries
                if e.group == "problem" and e.latex != latex_of_name(e.name)}

    def spelled_out(self, expr: sp.Expr) -> sp.Expr:
        """An expression with every definition put in."""
        return expr.xreplace({d.entry.symbol: d.expr for d in self.definitions})

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return str(unit_of(self.objective, self.units, [])) if self.check_units else "1"

    @cached_property
    def all_relations(self) -> tuple[WrittenRelation, ...]:
        """The constraints and the bounds of variables."""
        bounds = []
        for q in self.variables:
            for limit, operator in ((q.lower, ">="), (q.upper, "<=")):
                if limit is not None and limit != 0:
                    name = f"{q.entry.name} {operator} {limit}"
                    bounds.append(WrittenRelation(name, q.symbol, operator, limit, "a bound"))
        return (*self.relations, *bounds)

    def program(self, values: Mapping[sp.Symbol, sp.Expr] | None = None) -> GeometricProgram:
        """Return the problem in canonical form, with some parameters put in.

        Args:
            values: What replaces symbols before anything else.

        Raises:
            FormulaError: If the problem has no such form; the text names the term.
            InfeasibleError: If a constraint never holds.
        """
        chosen = dict(values or {})
        names = (f"extreme_{k}" for k in range(1, 1000))
        fresh_variables: list[sp.Symbol] = []
        lower = {
            q.symbol: q.lower for q in self.parameters if q.lower is not None and q.lower > 0
        }
        upper = {q.symbol: q.upper for q in self.parameters if q.upper is not None}
        unknowns = frozenset(q.symbol for q in self.variables)
        scope = Scope(
            unknowns, lower, lambda: _fresh(names, fresh_variables), upper, self._known(chosen)
        )
        objective, inverse, extra = objective_of(
            self.spelled_out(self.objective).xreplace(chosen), self.sense, scope
        )
        constraints: list[SumConstraint] = []
        for relation in self.all_relations:
            inside = replace(scope, variables=scope.variables | set(fresh_variables))
            left, right = (self.spelled_out(e).xreplace(chosen)
                           for e in (relation.left, relation.right))
            if not inside.varies(left) and not inside.varies(right):
                inside = replace(inside, known=())  # or it would follow from itself
            try:
                constraints += constraints_of(
                    relation.name, left, relation.operator, right, inside, relation.reason,
                    relation.source,
                )
            except (FormulaError, InfeasibleError) as error:
                if isinstance(error, AlternativeError):
                    error.place = relation.name
                raise error.with_context(f"constraint {relation.name!r}") from None
        _require_names((*constraints, *extra), len(objective))
        variables = (*(q.symbol for q in self.variables), *fresh_variables)
        return GeometricProgram(
            variables, objective, (*constraints, *extra), self._domain(chosen), inverse
        )

    def rests_on_conditions(self, program: GeometricProgram) -> bool:
        """Whether a coefficient is positive only where constraints on parameters hold."""
        terms = (*program.objective, *(t for c in program.constraints for t in c.terms))
        sums = {a for t in terms for a in t.atoms if a.is_Add and not a.is_positive}
        return bool(sums and self._known({}))

    def _known(self, chosen: Mapping[sp.Symbol, sp.Expr]) -> tuple[sp.Expr, ...]:
        """Sums of parameters that are at least zero, by constraints on parameters alone."""
        unknowns = {q.symbol for q in self.variables}
        found = []
        for relation in self.relations:
            left, right = (self.spelled_out(e).xreplace(chosen)
                           for e in (relation.left, relation.right))
            gap = right - left if relation.operator == "<=" else left - right
            plain = not gap.free_symbols & unknowns and not gap.atoms(sp.Max, sp.Min)
            if relation.operator != "==" and plain and gap.is_Add:
                found.append(gap)
        return tuple(found)

    def _domain(self, chosen: Mapping[sp.Symbol, sp.Expr]) -> Domain:
        given = [q for q in self.parameters if q.symbol not in chosen]
        at_least_one = tuple(
            Monomial.of(ratio) for q in given for ratio in (
                *((q.symbol / q.lower,) if q.lower is not None and q.lower > 0 else ()),
                *((q.upper / q.symbol,) if q.upper is not None else ()),
            )
        )
        exponents = {
            q.symbol: Interval(q.lower or sp.Integer(0), q.upper)
            for q in self.parameters
            if q.symbol in self.exponents and q.symbol not in chosen
        }
        return Domain(at_least_one, exponents)

    @cached_property
    def exponents(self) -> frozenset[sp.Symbol]:
        """Parameters that stand in exponents."""
        found: set[sp.Symbol] = set()
        for expr in (
            self.objective, *(e for r in self.relations for e in (r.left, r.right))
        ):
            for power in expr.atoms(sp.Pow):
                found |= power.exp.free_symbols
        return frozenset(found)

    def quantity(self, name: str) -> ProblemSymbol | None:
        """The variable or parameter called `name`."""
        for q in (*self.variables, *self.parameters):
            if q.entry.name == name:
                return q
        return None


def _require_names(constraints: Sequence[SumConstraint], terms: int) -> None:
    """Raise unless the constraints, and the terms of their sums, have names of their own."""
    counts = [(c.name, len(c.terms)) for c in constraints] + [("objective", terms)]
    names = [name for name, _ in counts]
    names += [f"{name} [{k}]" for name, count in counts if count > 1 for k in range(1, count + 1)]
    for name in names:
        if names.count(name) > 1:
            raise FormulaError(f"two constraints are named {name!r}, or their parts; rename one")


def _fresh(names: Iterator[str], made: list[sp.Symbol]) -> sp.Symbol:
    name = next(names)
    entry = Notation(name, "1", rf"\mu_{{{name.split('_')[1]}}}", "value of a maximum or minimum")
    made.append(entry.symbol)
    return entry.symbol
