"""Plots; the one module that draws."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

from symscale.errors import InputError

FORMATS = (".pdf", ".svg", ".png")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")
"""Colours that colour-blind readers tell apart (Okabe and Ito)."""

LONGEST_LABEL = 60
_STYLE: Any = {
    "font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "figure.dpi": 150,
    "svg.hashsalt": "symscale", "pdf.fonttype": 42, "figure.constrained_layout.use": True,
}


def check_format(path: Path, option: str = "--plot") -> None:
    """Refuse a file name whose ending is no format of plots.

    Raises:
        InputError: If it is not .pdf, .svg or .png.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{option} {path}: name a file that ends in {', '.join(FORMATS)}")


def new_figure(panels: Sequence[float], height: float) -> tuple[Any, Any]:
    """Make a figure of panels above one another that share their x axis.

    Args:
        panels: Their relative heights.
        height: Height of the figure, inches.

    Returns:
        The figure, and its axes: one, or an array where there are several panels.
    """
    mpl.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, height))
    ratios = {"height_ratios": list(panels)}
    return figure, figure.subplots(len(panels), 1, sharex=True, gridspec_kw=ratios)


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the one style of all figures."""
    with mpl.rc_context(_STYLE):
        yield


def colour(index: int) -> str:
    """A colour that those who see few colours can tell from the others.

    Example:
        >>> colour(0) == colour(8)
        True
    """
    return COLOURS[index % len(COLOURS)]


@contextmanager
def drawing(
    shared: bool = True,
) -> Iterator[Callable[[int, int, tuple[float, float]], tuple[Any, Any]]]:
    """Give a function that makes a figure of rows and columns of panels, in the one style.

    Args:
        shared: Whether the panels share their y axis.
    """
    mpl.use("Agg")
    from matplotlib.figure import Figure

    def make(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
        figure = Figure(figsize=size)
        panels = figure.subplots(rows, columns, squeeze=False, sharey=shared)
        return figure, panels.ravel()

    with mpl.rc_context(_STYLE):
        yield make


def save(figure: Any, *paths: Path) -> None:
    """Write a figure into files, the same bytes each time; it is laid out once."""
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
    for path in paths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a letter that no font has is drawn as a box
            figure.savefig(path, metadata=metadata[path.suffix.lower()])
        figure.set_layout_engine("none")


def label_of(title: str) -> str:
    r"""Return a title from a file, short enough for a figure, in which no formula begins.

    Example:
        >>> print(label_of("A $ machine"))
        A \$ machine
    """
    return plain(title if len(title) <= LONGEST_LABEL else title[: LONGEST_LABEL - 3] + "...")


def plain(text: str) -> str:
    """A text in which no formula begins."""
    return text.replace("$", r"\$")


def colour_map(colours: Sequence[str]) -> Any:
    """A map from whole numbers to colours."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(list(colours))


def legend_line(**style: Any) -> Any:
    """A line that stands in a legend only."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)
