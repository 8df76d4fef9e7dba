"""Projected iterations: against the counts of Transformer costs, and the study's own figures."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from commands import run
from places import ROOT
from symscale.costs.transformer.architecture import transformer
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.errors import SymscaleError
from symscale.language.symbols import symbols
from symscale.measure.iterations.projection import (
    Baseline,
    baseline_of,
    merged,
    project,
    share_error,
    times_of,
)
from symscale.measure.iterations.regions import OVERLAPPED, SERIALIZED, BlockSizes, block_regions
from symscale.measure.operators.collectives import ALL_REDUCE
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.memory_bound import ELEMENTWISE
from symscale.measure.operators.products import MATRIX_PRODUCT
from symscale.measure.readers.csv_files import read_csv
from symscale.measure.readers.files import read_measurements
from symscale.measure.readers.reading import Facts, Options, Reading
from symscale.studies.comp_vs_comm.ratios import CompVsComm

BERT = str(ROOT / "docs" / "calibration" / "bert.csv")
RATE, LINK = 0.7 * 181e12, 150e9

# Check values of the study of computation against communication: H, SL, TP, and the share
# at k = 1, 2, 4 on an MI210 node.
STUDY = [
    (4096, 1024, 16, 0.40, 0.57, 0.73),
    (8192, 2048, 32, 0.41, 0.58, 0.73),
    (16384, 2048, 64, 0.41, 0.59, 0.74),
    (32768, 2048, 128, 0.42, 0.59, 0.74),
    (65536, 4096, 128, 0.26, 0.42, 0.59),
    (65536, 4096, 256, 0.42, 0.59, 0.74),
]


def proportional_baseline() -> Baseline:
    """One product and one all-reduce at the study's rates: its own method."""
    one = {"m": 2048, "n": 1024, "k": 1024, "batch": 1}
    product = Measurement(MATRIX_PRODUCT, one, 2, 2 * 2048 * 1024**2 / RATE, "x")
    ring = {"size_bytes": 2**22, "devices": 4}
    link = Measurement(ALL_REDUCE, ring, 0, 1.5 * 2**22 / LINK, "x")
    return baseline_of(Reading("x", "", (product, link), Facts(), (0, 0)))


@pytest.mark.parametrize("row", STUDY, ids=lambda row: f"{row[0]}-{row[2]}")
def test_shares_of_the_study(row: tuple[int, int, int, float, float, float]) -> None:
    width, length, degree, *shares = row
    regions = block_regions(BlockSizes(width, 1, length, degree, 1, 2))
    for k, share in zip((1, 2, 4), shares, strict=True):
        assert times_of(regions, proportional_baseline(), k).share == pytest.approx(
            share, abs=0.0051
        )


@pytest.mark.parametrize(
    ("width", "sequences", "length", "degree"),
    [(1024, 4, 512, 4), (4096, 1, 1024, 16), (65536, 4, 8192, 256)],
)
def test_regions_count_what_the_costs_count(
    width: int, sequences: int, length: int, degree: int
) -> None:
    """FLOP, payload and gradients of a block, from the contractions of its layers."""
    b, d_model, n_ctx, N_TP = symbols("b d_model n_ctx N_TP")
    model = Transformer(transformer(), b, n_ctx, Plan(N_TP=N_TP))
    given = {b: sequences * length, d_model: width, n_ctx: length, N_TP: degree}
    study = CompVsComm(model)
    regions = block_regions(BlockSizes(width, sequences, length, degree, 8, 2))
    flop = sum(region.flop for region in regions)
    sent = sum(call.moved for r in regions if r.kind == SERIALIZED for call in r.calls)
    payload = sent * degree / (2 * (degree - 1))
    word = symbols("w")[0]
    edge = study.edge.expr.xreplace({**given, word: sp.Integer(2)})
    assert flop / payload == pytest.approx(float(edge), rel=1e-12)
    (gradient,) = (r for r in regions if r.kind == OVERLAPPED)
    words = gradient.calls[0].moved / 2 * 8 / 14
    assert words == pytest.approx(12 * width**2 / degree)


def test_exposed_communication_is_what_the_backward_pass_does_not_hide() -> None:
    baseline = proportional_baseline()
    regions = block_regions(BlockSizes(1024, 1, 1024, 4, 8, 2))
    one, many = times_of(regions, baseline, 1), times_of(regions, baseline, 1000)
    assert one.exposed_s == 0.0
    assert many.exposed_s == pytest.approx(many.overlapped_s - many.backward_s)
    assert one.backward_s == pytest.approx(2 / 3 * one.compute_s)
    assert many.compute_s == pytest.approx(one.compute_s / 1000)
    assert many.serialized_s == one.serialized_s
    assert many.step_s == pytest.approx(
        many.compute_s + many.serialized_s + many.overlapped_s - many.backward_s
    )


def test_errors_of_shares_are_the_spread_over_repeated_baselines() -> None:
    """Two hundred baselines with noise of 5 %: how far their shares lie apart.

    The scatter that a model carries stands for what it leaves out of single sizes, which
    repeating does not show: without it only the parameters' errors are left.
    """
    sizes = BlockSizes(4096, 1, 2048, 16, 1, 2)
    regions = block_regions(sizes)
    rng = np.random.default_rng(1)
    shares, errors = [], []
    for _ in range(200):
        found = []
        for m in (512, 1024, 2048, 4096, 8192):
            one = {"m": m, "n": 4096, "k": 4096, "batch": 1}
            seconds = (2 * m * 4096**2 / RATE + 5e-6) * (1 + 0.05 * rng.standard_normal())
            found.append(Measurement(MATRIX_PRODUCT, one, 2, seconds, "x"))
        for i in range(18, 27):
            ring = {"size_bytes": 2**i, "devices": 4}
            seconds = (1.5 * 2**i / LINK + 2e-5) * (1 + 0.05 * rng.standard_normal())
            found.append(Measurement(ALL_REDUCE, ring, 0, seconds, "x"))
        baseline = baseline_of(Reading("x", "", tuple(found), Facts(), (0,) * len(found)))
        shares.append(times_of(regions, baseline).share)
        errors.append(share_error(regions, baseline, 1.0))
    spread = float(np.std(shares))
    true_scatter = np.mean(shares) * (1 - np.mean(shares)) * 0.05 * np.sqrt(2)
    said = float(np.sqrt(np.mean(np.square(errors))))
    assert said == pytest.approx(float(np.hypot(spread, true_scatter)), rel=0.2)


def test_calls_of_one_size_are_averaged_by_their_count() -> None:
    rows = ["operator,size_bytes,devices,count,time_us", "all-reduce,1024,2,1,10",
            "all-reduce,1024,2,3,20", "all-reduce,4096,2,1,30"]
    found = merged(read_csv("x", rows, Options()).measurements)
    assert [(one.count, round(one.seconds * 1e6, 6)) for one in found] == [(4, 17.5), (1, 30.0)]


def test_the_cost_saved_is_a_sum_over_runs_not_made() -> None:
    baseline = proportional_baseline()
    cases = [(BlockSizes(1024, 1, 1024, 4, 1, 2), True), (BlockSizes(2048, 1, 1024, 8, 1, 2), True),
             (BlockSizes(65536, 4, 8192, 4, 1, 2), False)]
    found = project(baseline, cases, (1.0, 4.0), 24)
    runs = [24 * case.times[0].step_s for case in found.cases if case.fits]
    assert len(runs) == 2
    assert found.runs_s == pytest.approx(sum(runs))
    assert found.device_s == pytest.approx(4 * runs[0] + 8 * runs[1])
    assert baseline.seconds == pytest.approx(2 * 2048 * 1024**2 / RATE + 1.5 * 2**22 / LINK)
    assert found.saved == pytest.approx(sum(runs) / baseline.seconds)


def test_baselines_that_cannot_be_used() -> None:
    product = "matrix product,64,64,64,,,,fp32,3"
    head = "operator,m,n,k,tokens,size_bytes,devices,dtype,time_us"
    for rows, text in (
        ([head, product], "no all-reduce in the baseline"),
        ([head, "all-reduce,,,,,1024,2,,5"], "no matrix product in the baseline"),
        ([head, product, "matrix product,8,8,8,,,,bf16,1", "all-reduce,,,,,1024,2,,5"], "words of"),
        ([head, product, "all-reduce,,,,,1024,2,,5", "all-reduce,,,,,1024,4,,5"], "over 2, 4"),
    ):
        with pytest.raises(SymscaleError, match=text):
            baseline_of(read_csv("x", rows, Options()))


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    table, plot = tmp_path / "out.csv", tmp_path / "share.pdf"
    done = run("project", "--baseline", BERT, "--csv", str(table),
               "--plot", str(plot), "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert plot.read_bytes()[:5] == b"%PDF-"
    data = json.loads(done.out)
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert len(rows) == len(data["cases"]) == 392
    assert data["k"] == [1.0, 2.0, 4.0]
    for row, case in zip(rows, data["cases"], strict=True):
        shares = [float(row[f"share_k{k}"]) for k in (1, 2, 4)]
        assert shares == sorted(shares)
        assert shares == pytest.approx(case["share"], rel=1e-4)
        assert all(0 < error < 0.05 for error in case["share_error"])
        step = sum(float(row[f"{name}_s_k2"]) for name in ("compute", "serialized", "exposed"))
        assert step == pytest.approx(float(row["step_s_k2"]), rel=1e-4)
    assert data["profiling_cost_saved"] == pytest.approx(
        data["runs_not_made_s"] / data["baseline_s"]
    )
    medians = [row["median"] for row in data["summary"]]
    assert medians == sorted(medians)
    assert 0.4 < medians[1] < 0.75


def test_the_example_is_what_it_says() -> None:
    """The rates written above the table are those that the fit finds."""
    baseline = baseline_of(read_measurements(BERT))
    model = baseline.models[MATRIX_PRODUCT].model
    assert model.rate_flop == pytest.approx(126.7e12, rel=0.06)
    link = baseline.models[ALL_REDUCE].model
    assert link.bandwidth_bytes == pytest.approx(150e9, rel=0.12)
    assert baseline.models[ELEMENTWISE].model.bandwidth_bytes == pytest.approx(1.2e12, rel=0.1)
    assert (baseline.word_bytes, baseline.devices, baseline.notes) == (2, 4, ())


def test_refusals() -> None:
    for options in (("--sweep", "past"), ("--dp", "0"), ("--blocks", "-1"),
                    ("--flop-vs-bw", "0"), ("--plot", "a.gif"), ("--precision", "3")):
        done = run("project", "--baseline", BERT, *options)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), options
    assert run("project", "--baseline", "none.csv").code == 2
