"""Formulas evaluated on machines, for the tables beside derivations."""

from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.facts.machines.lumped import load_machine, lump, parameters_of
from symscale.language.symbols import symbol
from symscale.studies.requests.parameters import defaults

PUBLISHED = ("v100-sxm", "a100-sxm", "h100-pcie", "h100-sxm")
"""The devices of the data-movement study."""


def on_machines(formulas: Sequence[sp.Expr], level: str) -> list[tuple[str, tuple[mp.mpf, ...]]]:
    """Evaluate formulas on the published machines, other parameters at their standard values.

    Args:
        formulas: Monomials in parameters.
        level: What acts as one device.

    Returns:
        For each machine its title and the values.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, W_mem = symbols("C W_mem")
        >>> title, (n,) = on_machines([C/(2*W_mem)], "device")[-1]
        >>> f"{float(n):.4f}"
        '590.3519'
    """
    standard = {p.symbol: p.number for p in defaults().values() if p.number is not None}
    without = () if any(symbol("tau") in f.free_symbols for f in formulas) else ("tau",)
    table = []
    for name in PUBLISHED:
        machine = load_machine(name)
        figures = {
            symbol(p.name): sp.Rational(p.value.numerator, p.value.denominator)
            for p in parameters_of(lump(machine, level), Fraction(2), without)
            if p.value is not None
        }
        values = {**standard, **figures}
        table.append(
            (machine.title, tuple(Monomial.of(f).evaluate(values) for f in formulas))
        )
    return table
