"""The closed form and the simulation side by side: document, data and figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import symscale
from symscale.compare.simulated import ComparedPoint
from symscale.facts.machines.lumped import Machine
from symscale.pages.figures.drawing import colour, new_figure, save, styled
from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, number
from symscale.simulator.sparse_mlp.curve import end_of_linear_scaling

_ABOUT = (
    "The closed form is asked at each model's own batch, depth, experts and run time, with the "
    "sustained rate. It counts the traffic of N replicas where N - 1 move words, and reads "
    "weights anew for each microbatch even where they stay in the cache; the bound on the same "
    "assumptions does neither, for the plan at hand."
)

Compared = Sequence[tuple[Machine, Sequence[ComparedPoint]]]


def comparison_document(compared: Compared) -> Document:
    """Both utilizations for each model, and their ratio."""
    blocks: list[Block] = [paragraph(_ABOUT)]
    columns = (
        Column("T [FLOP]"), Column("simulated", right=True), Column("closed form", right=True),
        Column("ratio", right=True), Column("same bound", right=True), Column("piece"),
    )  # fmt: skip
    for machine, rows in compared:
        table = tuple(
            (
                Number(r.point.plan.problem.shape.training_flop, digits=4),
                f"{r.point.utilization:.4f}", f"{r.closed:.4f}", f"{r.ratio:.3f}",
                f"{r.same:.4f}", r.piece,
            )
            for r in rows
        )  # fmt: skip
        blocks += [Heading(f"{machine.title} ({machine.name})"), Table(columns, table)]
        beaten = [r for r in rows if r.ratio > 1]
        for r in beaten:
            flop = Number(r.point.plan.problem.shape.training_flop, "FLOP", 4)
            blocks.append(
                paragraph("At ", flop, " the plan beats the closed form: ",
                          " and ".join(r.beyond) or "unexplained", ".")
            )  # fmt: skip
    return Document("Closed form and simulation", tuple(blocks))


def comparison_data(compared: Compared) -> dict[str, Json]:
    """The same as JSON data."""
    return {
        "title": "Closed form and simulation",
        "curves": [
            {
                "hardware": machine.name,
                "points": [
                    {
                        "compute_flop": number(r.point.plan.problem.shape.training_flop),
                        "d_model": r.point.plan.problem.shape.d_model,
                        "devices": r.point.plan.problem.devices,
                        "simulated": number(r.point.utilization),
                        "closed_form": number(r.closed),
                        "ratio": number(r.ratio),
                        "same_assumptions": number(r.same),
                        "piece": r.piece,
                        "beyond": list(r.beyond),
                    }
                    for r in rows
                ],
            }
            for machine, rows in compared
        ],
        "version": symscale.__version__,
    }


def comparison_plot(compared: Compared, path: Path) -> None:
    """Draw both utilizations against training compute, on logarithmic scales."""
    with styled():
        figure, axes = new_figure((1.0,), 4.2)
        for index, (machine, rows) in enumerate(compared):
            _pair(axes, machine, rows, colour(index))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(0.01, 1.1)
        axes.set_xlabel("training compute $T$ [FLOP]")
        axes.set_ylabel("utilization $U$")
        figure.legend(fontsize=8, loc="outside upper left", ncols=2)
        save(figure, path)


def _pair(axes: Any, machine: Machine, rows: Sequence[ComparedPoint], shade: str) -> None:
    xs = [r.point.plan.problem.shape.training_flop for r in rows]
    axes.plot(xs, [r.closed for r in rows], color=shade, lw=1.2, ls="--",
              label=f"{machine.title}, closed form")  # fmt: skip
    axes.plot(xs, [r.point.utilization for r in rows], color=shade, lw=1.4, marker="o", ms=3,
              label=f"{machine.title}, simulated")  # fmt: skip
    end = end_of_linear_scaling(machine, [r.point for r in rows])
    if end is not None:
        axes.axvline(end.plan.problem.shape.training_flop, color=shade, lw=0.9, ls=":")
