"""Fits of operators and what a hardware file takes from them, as a document and as JSON."""

from collections.abc import Sequence
from typing import Any

from symscale.measure.machines.preset_file import Calibration, Fit, Stated
from symscale.pages.formats.document import Block, Cell, Column, Document, Heading, Table, paragraph
from symscale.pages.formats.json import Json
from symscale.pages.page import Page

_PARAMETERS = ((0, "rate", 1e12, "TFLOP/s"), (1, "bandwidth", 1e9, "GB/s"))


def calibration_document(found: Calibration) -> Document:
    """The fits with their errors, and the figures that the hardware file states."""
    blocks: list[Block] = [
        paragraph(
            "Each operator takes max(work/rate, bytes/bandwidth) + latency, fitted by least "
            "squares on the relative error. Behind each number stands its standard error. Left "
            "out: the median error on sizes that the fit did not see, the worst of them, and the "
            "median for a time proportional to FLOP or bytes."
        ),
        Heading("Operators"),
        *fits_tables(found.fits),
        Heading("Hardware file"),
        _figures_table(found.figures),
    ]
    if found.base is not None:
        blocks.append(paragraph(f"All else is that of {found.base.title} ({found.base.name})."))
    blocks += [paragraph(f"Note: {note}.") for note in found.notes]
    return Document(found.title, tuple(blocks))


def fits_tables(fits: Sequence[Fit], proportional: bool = True) -> tuple[Table, Table]:
    """The parameters of each operator with their standard errors, and the errors left out.

    Args:
        fits: The fits.
        proportional: Whether to show the errors of the proportional model too.
    """
    parameters: list[tuple[Cell, ...]] = []
    errors: list[tuple[Cell, ...]] = []
    for fit in fits:
        model, judged = fit.judged.model, fit.judged
        cells = [_with_error(model.parameters[i], model.relative_error(i), scale)
                 for i, _, scale, _ in _PARAMETERS]
        latency, error = model.latency_s, model.relative_error(2)
        parameters.append((
            fit.title, *cells,
            "0" if error is None else f"{latency * 1e6:.3g} ± {short(latency * error * 1e6)}",
        ))
        worst, bad = judged.worst
        errors.append((
            fit.title, str(model.sizes), f"{judged.median_error:.1%}", f"{bad:+.0%}", worst.label,
            *((f"{fit.proportional.median_error:.0%}",) if proportional else ()),
        ))
    first = (
        Column("operator", wrap=True), *(Column(f"{name} [{unit}]", right=True)
                                         for _, name, _, unit in _PARAMETERS),
        Column("latency [us]", right=True),
    )
    second = (
        Column("operator", wrap=True), Column("sizes", right=True),
        Column("left out", right=True), Column("worst", right=True), Column("at"),
        *((Column("proportional", right=True),) if proportional else ()),
    )
    return Table(first, tuple(parameters)), Table(second, tuple(errors))


def _with_error(parameter: float, error: float | None, scale: float) -> str:
    """One over a parameter, such as a rate, with its standard error."""
    if parameter <= 0:
        return "not seen"
    value = 1 / parameter / scale
    return f"{value:.4g}" if not error else f"{value:.4g} ± {short(value * error)}"


def short(value: float) -> str:
    """Return a number to two digits without an exponent.

    Example:
        >>> short(123.4), short(0.01234)
        ('120', '0.012')
    """
    return f"{float(f'{value:.2g}'):g}"


def _figures_table(figures: Sequence[Stated]) -> Table:
    columns = (
        Column("figure"), Column("value", right=True), Column("unit"), Column("direction"),
        Column("source", wrap=True, share=0.4),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            f"{f.tier}.{f.key}" if f.tier else f.key, f"{f.value:.4g}",
            "" if f.unit == "1" else f.unit, f.direction or f.condition, f.source,
        )
        for f in figures
    ]
    return Table(columns, tuple(rows))


def calibration_data(found: Calibration) -> dict[str, Any]:
    """The fits and figures with stable keys; errors as fractions."""
    return {
        "title": found.title,
        "base": None if found.base is None else found.base.name,
        "operators": [fit_data(fit) for fit in found.fits],
        "figures": [
            {
                "name": f"{f.tier}.{f.key}" if f.tier else f.key, "value": f.value,
                "unit": f.unit, "direction": f.direction or None,
                "condition": f.condition or None, "source": f.source, "note": f.note,
            }
            for f in found.figures
        ],
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }


def fit_data(fit: Fit) -> dict[str, Json]:
    """One fit with stable keys."""
    model, judged = fit.judged.model, fit.judged
    worst, error = judged.worst
    return {
        "operator": fit.operator.name,
        "word_bytes": fit.word_bytes or None,
        "devices": fit.devices or None,
        "hosts": fit.hosts or None,
        "form": model.form,
        "sizes": model.sizes,
        "smallest": model.smallest,
        "largest": model.largest,
        "rate_flop_per_s": model.rate_flop,
        "bandwidth_bytes_per_s": model.bandwidth_bytes,
        "latency_s": model.latency_s,
        "relative_standard_errors": {
            "rate": model.relative_error(0), "bandwidth": model.relative_error(1),
            "latency": model.relative_error(2),
        },
        "scatter": model.scatter,
        "left_out": {
            "median_error": judged.median_error,
            "worst_error": error,
            "worst_size": worst.label,
        },
        "proportional": {"median_error": fit.proportional.median_error},
    }


PAGES = (Page(Calibration, calibration_document, calibration_data, lambda c: c.title),)
