"""The answer of a monomial program: finitely many pieces, each with its region."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import mpmath as mp
import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.points import PointTree, region_point
from symscale.algebra.products.program import Program
from symscale.errors import FormulaError, InfeasibleError, RegionError, UnboundedError

Values = Mapping[sp.Symbol, sp.Expr]
_LONGEST = 300
_WHOLE = 20  # the greatest whole exponent of a condition that has no decimals instead
_DECIMALS = 3
_PLAIN = 10**60  # numbers above are not written in decimal digits


@dataclass(frozen=True)
class Condition:
    """A monomial in the parameters that must be at most 1.

    Attributes:
        ratio: The monomial.
        multipliers: The constraints whose product it is, with their powers; empty
            where it compares two pieces.
        binding: The inequalities among them, or, where there are none, all.
        against: The piece that takes over where the condition fails, or "".
        equal: Whether the monomial must equal 1.
    """

    ratio: Monomial
    multipliers: Mapping[str, sp.Expr] = field(default_factory=dict)
    against: str = ""
    binding: tuple[str, ...] = ()
    equal: bool = False

    @cached_property
    def primitive(self) -> Monomial:
        """That power of the ratio which reads best, the same whatever power the ratio is."""
        return self.ratio ** (1 / plain_content(self.ratio))

    @property
    def scale(self) -> sp.Rational:
        """The power of the primitive monomial that the ratio is."""
        return plain_content(self.ratio)

    @property
    def relational(self) -> Relational:
        """The condition with positive exponents only, `A <= B`."""
        below, above = split_fraction(self.primitive)
        kind = sp.Eq if self.equal else sp.Le
        return kind(below.expr, above.expr, evaluate=False)

    @cached_property
    def name(self) -> str:
        """The condition in words, `A <= B`."""
        return comparison_text(self.primitive, "==" if self.equal else "<=")

    def holds(self, values: Values) -> bool:
        """Whether it holds at exact rational values."""
        sign = self.ratio.compare_one(values)
        return sign == 0 if self.equal else sign <= 0


def plain_content(ratio: Monomial) -> sp.Rational:
    """The power that a monomial is of the one that reads best.

    That has whole exponents without a divisor; where these are large, as of `A^0.33 <= D`,
    the decimals that leave the largest of them 1, or else below 10.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, L = symbols("b L")
        >>> plain_content(Monomial.of(b**4/L**6)), plain_content(Monomial.of(b**33/L**100))
        (2, 100)
    """
    content = ratio.content
    every = [e / content for _, e in ratio.powers]
    if not all(e.is_Rational for e in every):
        return content
    sizes = sorted({abs(e / content) for a, e in ratio.powers if a.is_Symbol}, reverse=True)
    if not sizes or sizes[0] <= _WHOLE:
        return content
    for divisor in sizes:
        if all((e * 10**_DECIMALS / divisor).is_Integer for e in every):
            return content * divisor
    return content * sp.Integer(10) ** (len(str(sizes[0])) - 1)


def comparison_text(ratio: Monomial, sign: str) -> str:
    """How a monomial compares to 1, with positive exponents only, `A <= B`.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, L = symbols("b L")
        >>> comparison_text(Monomial.of(12*b/L), "<=")
        '12*b <= L'
    """
    below, above = split_fraction(ratio)
    try:
        return f"{below.expr} {sign} {above.expr}"
    except ValueError:  # an integer of more digits than Python prints
        # Each number by itself, in hexadecimal where it is too long as well.
        bases = [hex(int(a)) if a.is_Integer and a > _PLAIN else a for a, _ in ratio.powers]
        powers = [e for _, e in ratio.powers]
        factors = [f"{a}^({e})" for a, e in zip(bases, powers, strict=True)]
        return f"{' * '.join(factors)} {sign} 1"


def domain_conditions(domain: Domain) -> tuple[Condition, ...]:
    """The declared bounds of parameters as conditions."""
    return tuple(Condition(m**-1) for m in domain.at_least_one)


def premises_of(
    conditions: Sequence[Condition], domain: Domain, equal: frozenset[str] = frozenset()
) -> Premises:
    """The parameters of the domain at which conditions hold, by their names."""
    every = [*conditions, *domain_conditions(domain)]
    known = equal | {c.name for c in conditions if c.equal}
    return Premises({c.name: c.primitive for c in every}, domain, known)


def split_fraction(monomial: Monomial) -> tuple[Monomial, Monomial]:
    """Split into numerator and denominator, by the signs of the exponents.

    A symbolic exponent counts by its sign at the middle of (-1/2, 1/2), that is at 0,
    or else as positive.
    """
    above: dict[sp.Expr, sp.Expr] = {}
    below: dict[sp.Expr, sp.Expr] = {}
    for atom, exponent in monomial.powers:
        value = exponent.subs(dict.fromkeys(exponent.free_symbols, 0))
        negative = bool(value.is_negative) or (value == 0 and exponent.could_extract_minus_sign())
        (below if negative else above)[atom] = -exponent if negative else exponent
    return Monomial.from_powers(above), Monomial.from_powers(below)


class PieceRules(Protocol):
    """Where the pieces of a limit rule, found when it is asked for."""

    def region(self, piece: "Piece") -> tuple[Condition, ...]:
        """The conditions under which a piece rules."""

    def witness(self, piece: "Piece") -> Mapping[sp.Symbol, sp.Rational] | None:
        """Parameters at which it rules strictly, where some are found."""


@dataclass(frozen=True)
class Piece:
    """One monomial of a limit, with the certificate that it bounds the objective.

    Attributes:
        name: Its name.
        bound: The monomial in the parameters.
        multipliers: The power of each constraint in the product that is the bound;
            constraints that take no part are left out.
        binding: The inequalities among them.
        exponent_conditions: Polynomials in exponent symbols that must be positive.
        rules: What finds where it rules among others; None where it is the only one known.
    """

    name: str
    bound: Monomial
    multipliers: Mapping[str, sp.Expr]
    binding: tuple[str, ...]
    exponent_conditions: tuple[sp.Expr, ...] = ()
    rules: PieceRules | None = field(default=None, repr=False, compare=False)

    @cached_property
    def region(self) -> tuple[Condition, ...]:
        """Where the piece rules: every condition holds."""
        return self.rules.region(self) if self.rules is not None else ()

    @cached_property
    def witness(self) -> Mapping[sp.Symbol, sp.Rational] | None:
        """Parameters at which it rules strictly, where some are found."""
        return self.rules.witness(self) if self.rules is not None else None

    @property
    def expr(self) -> sp.Expr:
        """The bound as a SymPy expression."""
        return self.bound.expr

    @property
    def elasticities(self) -> dict[sp.Expr, sp.Expr]:
        """By which power the bound changes with each parameter."""
        return {atom: self.bound.exponent(atom) for atom in self.bound.atoms}

    def at(self, values: Values) -> mp.mpf:
        """The bound's value.

        Raises:
            RegionError: If the exponents are outside the piece's domain.
        """
        at: dict[Any, Any] = dict(values)
        for polynomial in self.exponent_conditions:
            value = polynomial.subs(at)
            if value.is_number and not value.is_positive:
                raise RegionError(f"{self.name}: {polynomial} must be positive, it is {value}")
        return self.bound.evaluate(values)


@dataclass(frozen=True)
class Limit:
    """The closed-form optimum of a program.

    The optimum is the least of the pieces for a maximum, the greatest for a
    minimum, wherever the feasibility conditions hold.

    Attributes:
        program: The program.
        pieces: Its pieces; none where the objective is unbounded.
        feasibility: Conditions on the parameters for any point to exist.
        direction: Where there are no pieces: by which powers the variables may grow
            together without leaving the constraints, improving the objective for ever.
    """

    program: Program
    pieces: tuple[Piece, ...]
    feasibility: tuple[Condition, ...] = ()
    direction: Mapping[sp.Symbol, sp.Rational] | None = None

    @property
    def expr(self) -> sp.Expr:
        """The optimum as one SymPy expression.

        Raises:
            UnboundedError: If there is no finite optimum.
        """
        self.check()
        expressions = [piece.expr for piece in self.pieces]
        if len(expressions) == 1:
            return expressions[0]
        outer = sp.Min if self.program.sense == "maximize" else sp.Max
        return outer(*expressions, evaluate=False)

    def piece(self, name: str) -> Piece:
        """Return the piece called `name`."""
        for piece in self.pieces:
            if piece.name == name:
                return piece
        raise FormulaError(f"no piece is named {name!r}")

    @cached_property
    def points(self) -> Mapping[str, PointTree | None]:
        """For each piece a point that attains it in all of its region, or one for each part."""
        return {
            p.name: region_point(
                self.program, tuple(p.multipliers), premises_of(p.region, self.program.domain),
                p.witness or None,
            )
            for p in self.pieces
        }

    def check(self, values: Values | None = None) -> None:
        """Raise where the program has no answer: at given parameters, or whatever they are.

        Feasibility is asked first: what has no feasible point is not unbounded.

        Raises:
            InfeasibleError: If the constraints contradict each other.
            UnboundedError: If the objective has no bound.
            RegionError: If the parameters are outside of what the program declares.
        """
        if values is not None:
            self._check_domain(values)
        for condition in self.feasibility:
            if not condition.ratio.free_symbols and not condition.holds({}):
                raise InfeasibleError(_contradiction(condition))
            if values is not None and not condition.holds(values):
                raise InfeasibleError(_contradiction(condition, values))
        if not self.pieces:
            raise UnboundedError(self._free_direction(values is None))

    def _check_domain(self, values: Values) -> None:
        """Raise where given parameters are outside of what the program declares.

        Raises:
            RegionError: If they are.
        """
        domain, at = self.program.domain, dict(values)
        for s, interval in domain.exponents.items():
            if s in at and at[s] not in interval:
                raise RegionError(f"{s} must lie within {interval}, it is {at[s]}")
        for s in self.program.parameters:
            if s in at and s not in domain.exponents and at[s].is_positive is False:
                raise RegionError(f"{s} must be positive, it is {at[s]}")
        for condition in domain_conditions(domain):
            if condition.ratio.free_symbols <= set(at) and not condition.holds(values):
                raise RegionError(f"the formulas hold where {condition.name}; here it is not so")

    def ruling(self, values: Values) -> Piece:
        """Return the piece that rules at exact values of all parameters.

        Raises:
            InfeasibleError: If the constraints contradict each other there.
            UnboundedError: If the objective has no bound.
            RegionError: If the parameters are outside of what the program declares.
        """
        self.check(values)
        best = self.pieces[0]
        sign = 1 if self.program.sense == "maximize" else -1
        for piece in self.pieces[1:]:
            if sign * (piece.bound / best.bound).compare_one(values) < 0:
                best = piece
        return best

    def at(self, values: Values) -> mp.mpf:
        """The optimum's value at exact values of all parameters.

        Raises:
            InfeasibleError: If the constraints contradict each other there.
            UnboundedError: If the objective has no bound.
            RegionError: If the parameters are outside of what the program declares.

        Example:
            >>> from symscale.algebra.products.program import at_most
            >>> from symscale.algebra.products.solve import solve
            >>> from symscale.language.symbols import symbols
            >>> N, E = symbols("N E")
            >>> domain = Domain((Monomial.of(E),))
            >>> limit = solve(Program("demo", "", "maximize", Monomial.of(N), (N,),
            ...     (at_most("cap", N, E, ""),), domain=domain))
            >>> limit.at({E: sp.Rational(1, 2)})
            Traceback (most recent call last):
            symscale.errors.RegionError: the formulas hold where 1 <= E; here it is not so
        """
        return self.ruling(values).at(values)

    def _free_direction(self, anywhere: bool) -> str:
        verb = "grows" if self.program.sense == "maximize" else "falls"
        moves = self.direction or {}
        powers = {s: p for s, p in moves.items() if p}
        text = "the variables change together as " + ", ".join(
            f"{s}^({p})" for s, p in powers.items()
        )
        if len(powers) == 1:
            ((s, p),) = powers.items()
            text = f"{s} {'grows' if p > 0 else 'falls'}"
        needs = " and ".join(c.name for c in self.feasibility) if anywhere else ""
        where = f" where {needs}, and nothing is feasible elsewhere" if needs else ""
        return (
            f"the objective {self.program.objective.expr} has no bound{where}: it {verb} for "
            f"ever as {text}"
        )


def _contradiction(condition: Condition, values: Values | None = None) -> str:
    names = ", ".join(condition.binding) or "the domain"
    text = f"no point satisfies the constraints {names} together"
    if not condition.ratio.atoms:
        return text
    relation: Any = condition.relational
    try:
        shown = f"{relation.lhs} {'=' if condition.equal else '<='} {relation.rhs}"
    except ValueError:  # an integer of more digits than Python prints
        shown = ""
    if 0 < len(shown) <= _LONGEST:
        text += f": they need {shown}"
        if values is not None:
            excess = condition.primitive.evaluate(values)
            text += f", and the left side is {mp.nstr(excess, 4)} times the right"
    elif values is not None:
        excess = condition.ratio.evaluate(values)
        most = "1" if condition.equal else "at most 1"
        text += f": what must be {most} is {mp.nstr(excess, 4)}"
    return text
