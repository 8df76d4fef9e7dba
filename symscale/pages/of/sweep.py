"""Shares over the grid of future models as a document, as CSV and as JSON."""

import csv
import io
from pathlib import Path
from typing import Any

from symscale.pages.formats.document import Block, Cell, Column, Document, Table, paragraph
from symscale.pages.page import Page
from symscale.studies.comp_vs_comm.future import FutureShares


def _rows(found: FutureShares) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of the grid of future cases."""
    header = ["d_model", "sequences", "n_ctx", "N_TP", "edge_flop_per_byte", "slack_flop_per_byte",
              *(f"share_k{k}" for k in found.ks), "block_memory_bytes", "fits"]
    rows: list[list[Any]] = [
        [c.d_model, c.sequences, c.n_ctx, c.N_TP, c.edge, c.slack, *c.shares, c.memory_bytes,
         "yes" if c.fits else "no"]
        for c in found.cases
    ]
    return header, rows


def sweep_csv(found: FutureShares) -> str:
    """Return the grid of future cases as CSV."""
    header, rows = _rows(found)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[repr(x) if isinstance(x, float) else x for x in row] for row in rows])
    return stream.getvalue()


def sweep_data(found: FutureShares) -> dict[str, Any]:
    """Return the grid of future cases as JSON."""
    return {
        "hardware": found.machine.name,
        "k": [float(k) for k in found.ks],
        "cases": [
            {
                "d_model": c.d_model, "sequences": c.sequences, "n_ctx": c.n_ctx, "N_TP": c.N_TP,
                "edge": c.edge, "slack": c.slack, "share": list(c.shares),
                "block_memory_bytes": c.memory_bytes, "fits": c.fits,
            }
            for c in found.cases
        ],
    }


def sweep_document(found: FutureShares) -> Document:
    """Return a summary of the grid: shares by width and degree, for sequences of 2K."""
    blocks: list[Block] = [
        paragraph(
            f"{len(found.cases)} cases on {found.machine.title}; "
            f"{sum(not c.fits for c in found.cases)} do not fit: not even one block's "
            "states and activations are held by a device. The share of serialized "
            "communication does not depend on the batch."
        )
    ]
    length = 2048
    chosen = {(c.d_model, c.N_TP): c for c in found.cases if c.n_ctx == length and c.sequences == 1}
    widths = sorted({width for width, _ in chosen})
    degrees = sorted({degree for _, degree in chosen})
    columns = (Column("d_model", right=True),
               *(Column(f"TP {degree}", right=True) for degree in degrees))
    for i, k in enumerate(found.ks):
        rows: list[tuple[Cell, ...]] = []
        for width in widths:
            cells = [
                f"{chosen[width, d].shares[i] * 100:.0f} %"
                + ("" if chosen[width, d].fits else "*")
                for d in degrees
            ]
            rows.append((str(width), *cells))
        caption = (
            f"Share of serialized communication at k = {k}, sequences of {length} tokens; "
            "* does not fit."
        )
        blocks.append(Table(columns, tuple(rows), caption))
    return Document("Future models on future hardware", tuple(blocks))


def line(found: FutureShares) -> str:
    """Say the answer in a line."""
    return f"{len(found.cases)} cases on {found.machine.name}"


def _draw(found: FutureShares, path: Path) -> None:
    from symscale.pages.figures.shares import share_plot

    share_plot(found.cases, found.ks, found.machine.title, path)


PAGES = (Page(FutureShares, sweep_document, sweep_data, line, figure=_draw, table=sweep_csv),)
