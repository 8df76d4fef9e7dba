"""Draws the share of serialized communication over the grid of future models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symscale.pages.figures.drawing import COLOURS, drawing, label_of, save
from symscale.studies.comp_vs_comm.future import Case

if TYPE_CHECKING:
    from symscale.measure.iterations.projection import Projection

LEAST_GAP = 4.0  # of labels, in percent of the axis


Errors = Mapping[tuple[int, int, int], Sequence[float]]


def projected_share_plot(
    found: "Projection", grid: Sequence[Case], ks: Sequence[str], name: str, path: Path
) -> None:
    """Draw projected shares in the same way, with their standard errors as bars."""
    cases = [
        replace(case, shares=tuple(times.share for times in projected.times))
        for case, projected in zip(grid, found.cases, strict=True)
    ]
    errors = {
        (p.sizes.d_model, p.sizes.N_TP, p.sizes.n_ctx): p.errors
        for p in found.cases if p.sizes.sequences == 1
    }
    share_plot(cases, ks, f"projected from {name[:60]}", path, errors=errors)


def share_plot(
    cases: Sequence[Case], ks: Sequence[object], title: str, *paths: Path,
    errors: Errors | None = None,
) -> None:
    """Draw share against width, a line for each degree, a panel for each k.

    Lines are for the middle length of sequence; the band around each spans all lengths.
    Hollow marks are cases that do not fit.

    Args:
        cases: The grid.
        ks: How many times faster than the network arithmetic has become.
        title: What hardware it is.
        paths: Where to draw it.
        errors: Standard errors of the shares by width, degree and length, for bars.
    """
    lengths = sorted({c.n_ctx for c in cases})
    middle = lengths[(len(lengths) - 1) // 2]
    with drawing() as make:
        figure, panels = make(1, len(ks), (2.5 + 2.6 * len(ks), 3.8))
        for i, (k, axes) in enumerate(zip(ks, panels, strict=True)):
            _panel(axes, cases, i, middle, errors or {})
            axes.set_title(f"k = {k}")
            axes.set_xlabel("width of the model, $d_{\\mathrm{model}}$")
        panels[0].set_ylabel("share of serialized communication [%]")
        figure.suptitle(
            f"{label_of(title)}: lines for sequences of {middle} tokens, bands {lengths[0]} to "
            f"{lengths[-1]}; hollow: does not fit; grey: 40 to 75 %", fontsize=9,
        )
        save(figure, *paths)


def _panel(axes: Any, cases: Sequence[Case], i: int, middle: int, errors: Errors) -> None:
    widths = sorted({c.d_model for c in cases})
    table = {(c.d_model, c.N_TP, c.n_ctx): c for c in cases if c.sequences == 1}
    lengths = sorted({c.n_ctx for c in cases})
    ends: list[tuple[float, str]] = []
    for j, degree in enumerate(sorted({c.N_TP for c in cases})):
        colour = COLOURS[j % len(COLOURS)]

        def share(width: int, length: int, degree: int = degree) -> float:
            return table[width, degree, length].shares[i] * 100

        axes.fill_between(
            widths, [share(x, lengths[-1]) for x in widths], [share(x, lengths[0]) for x in widths],
            color=colour, alpha=0.12, lw=0,
        )
        axes.plot(widths, [share(x, middle) for x in widths], color=colour, lw=1.4)
        if errors:
            bars = [errors[x, degree, middle][i] * 100 for x in widths]
            axes.errorbar(
                widths, [share(x, middle) for x in widths], yerr=bars, color=colour, lw=0,
                elinewidth=1, capsize=2,
            )
        for fits, face in ((True, colour), (False, "white")):
            xs = [x for x in widths if table[x, degree, middle].fits is fits]
            axes.plot(xs, [share(x, middle) for x in xs], "o", ms=4, mfc=face, mec=colour, ls="")
        ends.append((share(widths[-1], middle), f"TP {degree}"))
    height = -LEAST_GAP
    for end, label in sorted(ends):
        height = max(end, height + LEAST_GAP)
        axes.annotate(
            label, (widths[-1], height), xytext=(5, 0), textcoords="offset points",
            color="#333333", va="center", fontsize=7,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [f"{x // 1024}K" for x in widths])
    axes.set_xlim(widths[0] * 0.85, widths[-1] * 2.4)
    axes.set_ylim(0, 100)
    # The share that the study expects of models and hardware as they evolve.
    axes.axhspan(40, 75, color="black", alpha=0.06, lw=0)
