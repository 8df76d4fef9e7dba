"""The closed form and the simulation side by side: document, data and figure."""

from pathlib import Path

from symscale.compare.simulated import ComparedCurves
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
from symscale.pages.page import Page
from symscale.version import __version__

_ABOUT = (
    "The closed form is asked at each model's own batch, depth, experts and run time, with the "
    "sustained rate. It counts the traffic of N replicas where N - 1 move words, and reads "
    "weights anew for each microbatch even where they stay in the cache; the bound on the same "
    "assumptions does neither, for the plan at hand."
)

def comparison_document(compared: ComparedCurves) -> Document:
    """Both utilizations for each model, and their ratio."""
    blocks: list[Block] = [paragraph(_ABOUT)]
    columns = (
        Column("T [FLOP]"), Column("simulated", right=True), Column("closed form", right=True),
        Column("ratio", right=True), Column("same bound", right=True), Column("piece"),
    )  # fmt: skip
    for machine, rows in compared.curves:
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


def comparison_data(compared: ComparedCurves) -> dict[str, Json]:
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
            for machine, rows in compared.curves
        ],
        "version": __version__,
    }


def _draw(compared: ComparedCurves, path: Path) -> None:
    from symscale.pages.figures.comparison import comparison_plot

    comparison_plot(compared, path)


PAGES = (Page(ComparedCurves, comparison_document, comparison_data, figure=_draw),)
