"""Boxes of parameters: each between two numbers, whatever the others are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.tangents.convex import Array
from symscale.errors import InputError

Values = Mapping[sp.Symbol, sp.Rational]
_SEED = 20260


@dataclass(frozen=True)
class ParameterBox:
    """Between what numbers parameters lie.

    Attributes:
        ranges: The least and the greatest value of each; equal where it stays as it is.
    """

    ranges: Mapping[sp.Expr, tuple[sp.Rational, sp.Rational]]

    def sample(
        self, atoms: Sequence[sp.Expr], count: int, domain: Domain, seed: int = _SEED
    ) -> Array:
        """Logarithms of atoms at random points, even in the logarithms of the parameters.

        Points outside of the domain, or where a sum that stands as a factor is not
        positive, are left out.
        """
        random = np.random.default_rng(seed)
        symbols = list(self.ranges)
        low, high = (np.array([math.log(r[k]) for r in self.ranges.values()]) for k in (0, 1))
        logs = random.uniform(0.0, 1.0, (count, len(symbols))) * (high - low) + low
        columns = []
        inside = np.ones(count, bool)
        for atom in atoms:
            if atom in self.ranges:
                columns.append(logs[:, symbols.index(atom)])
                continue
            value = sp.lambdify(symbols, atom, "numpy")(*np.exp(logs).T) * np.ones(count)
            inside &= value > 0
            columns.append(np.log(np.where(value > 0, value, 1.0)))
        for ratio in domain.at_least_one:
            if ratio.free_symbols <= set(symbols):
                inside &= sp.lambdify(symbols, ratio.expr, "numpy")(*np.exp(logs).T) >= 1 - 1e-12
        return np.array(columns).reshape(len(atoms), count).T[inside]

    def span(self, product: Monomial) -> tuple[float, float]:
        """Between what logarithms a product of powers lies.

        Raises:
            InputError: If a sum that stands as a factor may be 0 or negative in the box.
        """
        low = high = float(sp.log(product.coefficient.expr))
        for atom in product.atoms:
            ends = [math.log(x) for x in self._ends(atom)]
            power = float(product.exponent(atom))
            low += min(power * e for e in ends)
            high += max(power * e for e in ends)
        return low, high

    def _ends(self, atom: sp.Expr) -> tuple[sp.Rational, sp.Rational]:
        if atom in self.ranges:
            return self.ranges[atom]
        low = high = sp.Integer(0)
        for term in sp.Add.make_args(atom):
            number, rest = term.as_coeff_Mul()
            ends = [number, number]
            for factor, power in rest.as_powers_dict().items():
                sides = self.ranges.get(factor, (factor, factor))
                first, second = (s**power for s in (sides if power > 0 else sides[::-1]))
                ends = [ends[0] * first, ends[1] * second]
            low, high = low + min(ends), high + max(ends)
        if not (low.is_number and low > 0):
            raise InputError(f"in this box {atom} is not always positive; take a smaller one")
        return low, high


def box_around(values: Values, factor: sp.Rational | int, domain: Domain) -> ParameterBox:
    """Each parameter between its value over a factor and times it, within its bounds.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> J, K = symbols("J K")
        >>> domain = Domain((Monomial.of(J/3),))
        >>> sorted(box_around({J: sp.Integer(4), K: sp.Integer(6)}, 2, domain).ranges.values())
        [(3, 8), (3, 12)]
    """
    ranges: dict[sp.Expr, tuple[Any, Any]] = {
        s: (v / factor, v * factor) for s, v in values.items()
    }
    for ratio in domain.at_least_one:
        if len(ratio.atoms) != 1 or ratio.atoms[0] not in ranges:
            continue
        (atom,) = ratio.atoms
        power, number = ratio.exponent(atom), ratio.coefficient.expr
        if not power.is_Rational:
            continue
        end = sp.Rational(number ** (-1 / power)) if (number ** (-1 / power)).is_Rational else None
        if end is not None:
            low, high = ranges[atom]
            ranges[atom] = (max(low, end), high) if power > 0 else (low, min(high, end))
    return ParameterBox(ranges)
