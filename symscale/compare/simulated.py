"""The closed form beside the simulation: two roads to the utilization of one run.

The closed form is asked for each simulated point at that point's own batch, depth, experts
and run time, with the devices' sustained rate. It makes two simplifications that a
plan may beat: it counts the traffic of N replicas where N - 1 move words, and it reads
weights anew for each microbatch even where they stay in the cache. `same` undoes both
for the plan at hand, and bounds it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod, sqrt

import sympy as sp

from symscale.algebra.products.limit import Limit
from symscale.algebra.products.solve import solve
from symscale.answers import Answer
from symscale.facts.machines.lumped import Machine, lump, parameters_of
from symscale.language.symbols import symbol
from symscale.simulator.sparse_mlp.curve import Point
from symscale.simulator.sparse_mlp.device import USABLE
from symscale.simulator.sparse_mlp.parameters import WORD_BYTES, device_values
from symscale.studies.training.cliffs import cliffs_program

EXACT_TRAFFIC = "N - 1 replicas move words, not N"
CACHED = "weights stay in the cache"
_NO_LIMIT = 10**9


@dataclass(frozen=True)
class ComparedPoint:
    """A simulated point and what the closed form says of it.

    Attributes:
        point: The point.
        closed: Largest utilization by the closed form.
        piece: The piece that rules there.
        same: Largest utilization by the closed form on the plan's own assumptions.
        beyond: Which simplifications of the closed form the plan beats.
    """

    point: Point
    closed: float
    piece: str
    same: float
    beyond: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """Simulated utilization over that of the closed form."""
        return self.point.utilization / self.closed


@dataclass(frozen=True, repr=False)
class ComparedCurves(Answer):
    """Curves of several machines, each point beside the closed form.

    Attributes:
        curves: The machines with their points.
    """

    page = "compare"
    curves: tuple[tuple[Machine, tuple[ComparedPoint, ...]], ...]


@lru_cache(maxsize=4)
def _utilization(network: bool, tokens_per_parameter: sp.Rational, ratio: sp.Rational) -> Limit:
    folded = {
        symbol("alpha"): sp.Integer(0), symbol("alpha_L"): sp.Integer(0),
        symbol("r_D"): tokens_per_parameter, symbol("r_ff"): ratio,
    }  # fmt: skip
    return solve(cliffs_program(network=network).substitute(folded))


def compare(machine: Machine, points: Sequence[Point]) -> list[ComparedPoint]:
    """Ask the closed form about simulated points.

    Raises:
        InfeasibleError: If the closed form says that no such run fits.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.simulator.sparse_mlp.curve import curve
        >>> from symscale.simulator.sparse_mlp.shapes import make_shape
        >>> h100 = load_machine("h100-sxm")
        >>> (found,) = compare(h100, list(curve(h100, [make_shape(73728)])))
        >>> found.piece, f"{found.point.utilization:.3f} of {found.closed:.3f}"
        ('data movement', '0.432 of 0.525')
    """
    lumped = lump(machine, machine.default_level())
    device = device_values(machine)
    sustained = Fraction(device["C_s"]) / Fraction(device["C"])
    figures = {p.name: p.value for p in parameters_of(lumped, Fraction(WORD_BYTES))}
    found = []
    for point in points:
        shape = point.plan.problem.shape
        beyond: list[str] = []
        values: dict[str, Fraction | float] = {
            "T": shape.training_flop, "T_0": shape.training_flop, "b_0": shape.batch_tokens,
            "L_0": shape.layers, "E": shape.experts, "t_d": point.training_s,
            "C": lumped.flop_rate * sustained,
            **{n: v for n, v in figures.items() if n != "C" and v is not None},
        }  # fmt: skip
        limit = _utilization(
            figures["W_net"] is not None,
            sp.Rational(shape.run_tokens) / sp.Rational(shape.parameters),
            sp.Rational(shape.d_ff, shape.d_model),
        )
        closed, piece = _at(limit, values)
        own = dict(values)
        traffic = _traffic(point)
        if "W_net" in own:
            own["W_net"] = Fraction(own["W_net"]) * traffic
            if traffic > 1:
                beyond.append(EXACT_TRAFFIC)
        if _stay(point, device["S_L2"]):
            own["W_mem"] = Fraction(own["W_mem"]) * _NO_LIMIT
            beyond.append(CACHED)
        same, _ = _at(limit, own)
        scale = float(sustained)
        found.append(ComparedPoint(point, closed * scale, piece, same * scale, tuple(beyond)))
    return found


def _at(limit: Limit, values: dict[str, Fraction | float]) -> tuple[float, str]:
    table = {symbol(n): sp.Rational(Fraction(v)) for n, v in values.items()}
    known = {s: table[s] for s in limit.program.parameters}
    piece = limit.ruling(known)
    return float(piece.at(known)), piece.name


def _traffic(point: Point) -> Fraction:
    """Tensor traffic over the outermost tier with N for N - 1, split at best, over the plan's."""
    shape, degrees = point.plan.problem.shape, point.plan.degrees
    model, ff = degrees["N_TP_model"][-1], degrees["N_TP_ff"][-1]
    moved = (model - 1) * shape.d_ff + (ff - 1) * shape.d_model
    if not moved:
        return Fraction(_NO_LIMIT)
    return Fraction(2 * sqrt(model * ff * shape.d_model * shape.d_ff)) / moved


def _stay(point: Point, cache_words: float) -> bool:
    """Whether a device's share of a weight matrix fits twice into the shared cache."""
    shape, degrees = point.plan.problem.shape, point.plan.degrees
    share = Fraction(
        shape.d_model * shape.d_ff, prod(degrees["N_TP_model"]) * prod(degrees["N_TP_ff"])
    )
    return 2 * share <= Fraction(cache_words) * Fraction(int(USABLE.p), int(USABLE.q))
