"""Monomials: products of powers of positive things, kept as exponent vectors.

A monomial is exact. Its atoms are symbols, prime numbers and, where a problem
needs it, positive expressions such as `p - 1`; its exponents are rationals, or
rational functions of exponent symbols such as `2/(1 - 2*alpha)`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import mpmath as mp
import sympy as sp
from sympy.polys.fields import field as polynomial_field

from symscale.algebra.exact.primes import is_product_one, prime_factors
from symscale.errors import FormulaError

Exponent: TypeAlias = sp.Expr
DIGITS = 30


@lru_cache(maxsize=4096)
def canonical_exponent(exponent: sp.Expr) -> sp.Expr:
    """Return an exponent in the one form in which equal ones are identical.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> alpha = symbol("alpha")
        >>> canonical_exponent(1/(1 - 2*alpha) + 1)
        (2*alpha - 2)/(2*alpha - 1)
    """
    if exponent.is_Rational:
        return exponent
    if exponent.is_Float:
        return sp.Rational(str(exponent))
    field = _function_field(tuple(sorted(exponent.free_symbols, key=str)))
    try:
        found = field.from_expr(exponent)
        return found.new(found.numer, found.denom).as_expr()  # an inverse keeps its signs
    except (ValueError, ZeroDivisionError):
        raise FormulaError(f"exponent {exponent} is no rational function") from None


@lru_cache(maxsize=64)
def _function_field(symbols: tuple[sp.Symbol, ...]) -> Any:
    return polynomial_field(list(symbols), sp.QQ)[0]


@dataclass(frozen=True)
class Monomial:
    """A product of powers, `prod(atom**exponent)`.

    Attributes:
        powers: Pairs of atom and nonzero exponent, in a fixed order.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, L = symbols("b L")
        >>> x = Monomial.of(12*b**2/L)
        >>> (x**2).expr
        144*b**4/L**2
        >>> x.exponent(L)
        -1
    """

    powers: tuple[tuple[sp.Expr, Exponent], ...]

    @classmethod
    def of(cls, value: "sp.Expr | int | Monomial") -> "Monomial":
        """Read a SymPy expression (or an integer) as a monomial.

        Raises:
            FormulaError: If it is a sum, is not positive, or is no product of powers.
        """
        if isinstance(value, Monomial):
            return value
        powers: dict[sp.Expr, Exponent] = {}
        _collect(sp.Integer(value) if isinstance(value, int) else value, sp.Integer(1), powers)
        return cls.from_powers(powers)

    @classmethod
    def from_powers(cls, powers: Mapping[sp.Expr, Exponent]) -> "Monomial":
        """Make a monomial from a table of atoms and exponents; zeros are dropped."""
        kept = [
            (atom, exponent if exponent.is_Rational else canonical_exponent(exponent))
            for atom, exponent in powers.items()
            if not exponent.is_zero
        ]
        kept = [(atom, exponent) for atom, exponent in kept if not exponent.is_zero]
        return cls(tuple(sorted(kept, key=_atom_order)))

    @property
    def table(self) -> dict[sp.Expr, Exponent]:
        """The exponents by atom."""
        return dict(self.powers)

    def exponent(self, atom: sp.Expr) -> Exponent:
        """The exponent of an atom; zero where it does not occur."""
        return self.table.get(atom, sp.Integer(0))

    def __mul__(self, other: "Monomial") -> "Monomial":
        powers = self.table
        for atom, exponent in other.powers:
            powers[atom] = powers[atom] + exponent if atom in powers else exponent
        return Monomial.from_powers(powers)

    def __truediv__(self, other: "Monomial") -> "Monomial":
        powers = self.table
        for atom, exponent in other.powers:
            powers[atom] = powers[atom] - exponent if atom in powers else -exponent
        return Monomial.from_powers(powers)

    def __pow__(self, exponent: "Exponent | int") -> "Monomial":
        factor = sp.Integer(exponent) if isinstance(exponent, int) else exponent
        return Monomial.from_powers({atom: e * factor for atom, e in self.powers})

    @property
    def is_one(self) -> bool:
        """Whether it is the number 1."""
        return not self.powers

    @property
    def atoms(self) -> tuple[sp.Expr, ...]:
        """Its atoms that are not numbers."""
        return tuple(atom for atom, _ in self.powers if not atom.is_Integer)

    @property
    def coefficient(self) -> "Monomial":
        """Its numeric part."""
        return Monomial(tuple(p for p in self.powers if p[0].is_Integer))

    @property
    def exponent_symbols(self) -> set[sp.Symbol]:
        """The symbols that its exponents contain."""
        parts: list[set[Any]] = [set(), *(e.free_symbols for _, e in self.powers)]
        return set().union(*parts)

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """All its symbols, those in exponents included."""
        parts: list[set[Any]] = [self.exponent_symbols, *(a.free_symbols for a in self.atoms)]
        return set().union(*parts)

    def split(self, atoms: Iterable[sp.Expr]) -> tuple["Monomial", "Monomial"]:
        """Split into the part made of `atoms` and the rest."""
        chosen = set(atoms)
        return (
            Monomial(tuple(p for p in self.powers if p[0] in chosen)),
            Monomial(tuple(p for p in self.powers if p[0] not in chosen)),
        )

    def substitute(self, values: Mapping[sp.Symbol, "sp.Expr | Monomial"]) -> "Monomial":
        """Replace symbols by monomials or positive numbers, in exponents too.

        Raises:
            FormulaError: If a value is no monomial.
        """
        powers: dict[sp.Expr, Exponent] = {}
        atom: Any
        for atom, exponent in self.powers:
            power = exponent
            if exponent.free_symbols & values.keys():
                power = exponent.xreplace(_expressions(exponent.free_symbols, values))
            image: tuple[tuple[sp.Expr, Exponent], ...] = ((atom, sp.Integer(1)),)
            if atom in values:
                image = Monomial.of(values[atom]).powers
            elif not atom.is_Symbol and atom.free_symbols & values.keys():
                image = Monomial.of(atom.xreplace(_expressions(atom.free_symbols, values))).powers
            for factor, inner in image:
                powers[factor] = powers.get(factor, sp.Integer(0)) + inner * power
        return Monomial.from_powers(powers)

    @property
    def expr(self) -> sp.Expr:
        """The SymPy expression, with powers that share a symbolic exponent gathered.

        With rational exponents it is a plain product. With symbolic ones it is
        one power of a product, `(...)**(1/(1 - 2*alpha))`.
        """
        root = self.common_exponent
        factors = [atom ** canonical_exponent(exponent / root) for atom, exponent in self.powers]
        return sp.Mul(*factors) if root == 1 else sp.Mul(*factors) ** root

    @property
    def common_exponent(self) -> Exponent:
        """A factor, `1/(1 - 2*alpha)` for one, that makes the remaining exponents polynomials."""
        return common_factor(exponent for _, exponent in self.powers)

    @property
    def content(self) -> sp.Rational:
        """The positive rational that divides all exponents and leaves whole coefficients.

        Example:
            >>> from symscale.language.symbols import symbols
            >>> b, L = symbols("b L")
            >>> Monomial.of(sp.sqrt(b)/L**2).content
            1/2
        """
        parts: list[Any] = [
            sp.primitive(e)[0] if e.free_symbols else abs(e) for _, e in self.powers
        ]
        if not parts:
            return sp.Integer(1)
        return sp.Rational(
            math.gcd(*(int(p.p) for p in parts)), math.lcm(*(int(p.q) for p in parts))
        )

    def evaluate(self, values: Mapping[sp.Symbol, sp.Expr]) -> mp.mpf:
        """Return its value as a number of 30 digits.

        Raises:
            FormulaError: If a symbol has no value.
        """
        with mp.workdps(DIGITS):
            total = mp.mpf(1)
            for atom, exponent in self.powers:
                base = _number(atom, values)
                if base <= 0:
                    raise FormulaError(f"{atom} is {mp.nstr(base, 6)}, not positive")
                total *= base ** _number(exponent, values)
            return total

    def logarithm(self, values: Mapping[sp.Symbol, sp.Expr]) -> mp.mpf:
        """Return the natural logarithm of its value.

        Raises:
            FormulaError: If a symbol has no value.

        Example:
            >>> from symscale.language.symbols import symbol
            >>> N = symbol("N")
            >>> mp.nstr(Monomial.of(N**2).logarithm({N: sp.Rational(1, 2)}), 6)
            '-1.38629'
        """
        with mp.workdps(DIGITS):  # with fewer than a number has, mpmath errs beside powers of 2
            return mp.log(self.evaluate(values))

    def compare_one(self, values: Mapping[sp.Symbol, sp.Expr] | None = None) -> int:
        """Return the exact sign of (itself - 1) at rational `values`: -1, 0 or 1.

        Raises:
            FormulaError: If a symbol has no value.
        """
        powers = self._numeric_powers(values or {})
        for digits in (30, 120, 1000):
            with mp.workdps(digits):
                terms = [mp.log(_number(a, {})) * _fraction(e) for a, e in powers]
                logarithm, size = mp.fsum(terms), mp.fsum(abs(t) for t in terms)
                if abs(logarithm) > size * mp.mpf(10) ** (5 - digits):
                    return 1 if logarithm > 0 else -1
            if all(a.is_Rational for a, _ in powers) and is_product_one(powers):
                return 0
        raise FormulaError("a comparison needs more than 1000 digits")  # pragma: no cover

    def _numeric_powers(self, values: Mapping[Any, sp.Expr]) -> list[tuple[sp.Expr, Any]]:
        """Positive numbers and their rational powers, at given values.

        Numbers are not factored: that would cost more than all the rest.
        """
        simple = all(
            e.is_Rational and (a.is_Integer or (a in values and values[a].is_Rational))
            for a, e in self.powers
        )
        if simple:
            found = [(values.get(a, a), e) for a, e in self.powers]
            if not all(value > 0 for value, _ in found):
                raise FormulaError("a value is not positive")
            return found
        at = self.substitute(values) if values else self
        if at.free_symbols:
            names = ", ".join(sorted(map(str, at.free_symbols)))
            raise FormulaError(f"no value for {names}")
        return list(at.powers)

    def __str__(self) -> str:
        return str(self.expr)


def common_factor(exponents: Iterable[Exponent]) -> Exponent:
    """Return one over the symbolic part of the common denominator of exponents.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> alpha = symbol("alpha")
        >>> common_factor([sp.Integer(2), -1/(4*alpha - 2)])
        1/(1 - 2*alpha)
    """
    return _common_factor(tuple(e for e in exponents if not e.is_Rational))


@lru_cache(maxsize=4096)
def _common_factor(exponents: tuple[Exponent, ...]) -> Exponent:
    denominator: sp.Expr = sp.Integer(1)
    for exponent in exponents:
        below = sp.fraction(exponent)[1]
        if below.free_symbols:
            denominator = sp.lcm(denominator, sp.primitive(sp.expand(below))[1])
    if denominator == 1:
        return sp.Integer(1)
    if denominator.subs(dict.fromkeys(denominator.free_symbols, 0)).is_negative:
        denominator = -denominator
    return 1 / sp.expand(denominator)


ONE = Monomial(())
"""The monomial 1."""


def _expressions(
    symbols: set[Any], values: Mapping[sp.Symbol, "sp.Expr | Monomial"]
) -> dict[sp.Symbol, sp.Expr]:
    """The values of some symbols as expressions."""
    found = ((s, values[s]) for s in symbols if s in values)
    return {s: v.expr if isinstance(v, Monomial) else v for s, v in found}


def _atom_order(power: tuple[sp.Expr, Exponent]) -> tuple[int, int, str]:
    return _order(power[0])


@lru_cache(maxsize=4096)
def _order(atom: sp.Expr) -> tuple[int, int, str]:
    if atom.is_Integer:
        return (0, int(atom), "")
    return (1, 0, str(atom))


def _collect(expr: Any, exponent: Exponent, powers: dict[sp.Expr, Exponent]) -> None:
    """Add the powers of expr**exponent to the table."""
    if expr.is_Float:
        expr = sp.Rational(str(expr))
    if expr.is_Rational:
        if not expr.is_positive:
            raise FormulaError(f"{expr} is not positive, so the product is no monomial")
        for number, sign in ((int(expr.p), 1), (int(expr.q), -1)):
            for prime, count in prime_factors(number).items():
                atom = sp.Integer(prime)
                powers[atom] = powers.get(atom, sp.Integer(0)) + sign * count * exponent
        return
    if expr.is_Mul:
        for factor in expr.args:
            _collect(factor, exponent, powers)
        return
    if expr.is_Pow and _is_positive(expr.base):
        if not _is_real(expr.exp):
            raise FormulaError(f"exponent {expr.exp} is not real")
        _collect(expr.base, exponent * expr.exp, powers)
        return
    if expr.is_Symbol and expr.is_positive:
        powers[expr] = powers.get(expr, sp.Integer(0)) + exponent
        return
    if expr.is_Add:
        factored = sp.factor_terms(expr)
        if factored.is_Mul:
            _collect(factored, exponent, powers)
            return
    if expr.is_positive and not expr.has(sp.Max, sp.Min):
        powers[expr] = powers.get(expr, sp.Integer(0)) + exponent
        return
    raise FormulaError(f"{expr} is not a product of powers of positive quantities")


def _is_real(exponent: sp.Expr) -> bool:
    """Whether an exponent is real wherever it is defined; SymPy leaves 1/(1 - x) open."""
    return exponent.is_real is not False and all(s.is_real for s in exponent.free_symbols)


def _is_positive(expr: Any) -> bool:
    if expr.is_Mul:
        return all(_is_positive(f) for f in expr.args)
    if expr.is_Pow:
        return _is_positive(expr.base) and _is_real(expr.exp)
    return bool(expr.is_positive)


def _fraction(value: Any) -> mp.mpf:
    return mp.mpf(int(value.p)) / int(value.q)


def _number(expr: Any, values: Mapping[sp.Symbol, sp.Expr]) -> mp.mpf:
    """The value of an expression as a number of the working precision."""
    if expr in values:
        expr = values[expr]
    elif not expr.is_Rational:
        expr = expr.xreplace(dict(values))
    if expr.is_Rational:
        return _fraction(expr)
    if expr.free_symbols:
        names = ", ".join(sorted(map(str, expr.free_symbols)))
        raise FormulaError(f"no value for {names}")
    number = sp.N(expr, mp.mp.dps)
    if not number.is_Float:
        raise FormulaError(f"{expr} is no real number")
    return mp.mpf(number._mpf_)
