"""`symscale fit`: measurements become a hardware file that loads and says what it rests on."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from commands import run
from places import ROOT
from symscale.facts.machines.lumped import load_machine, lump, parameters_of
from symscale.language.toml_text import quoted
from symscale.measure.operators.collectives import ALL_REDUCE
from symscale.measure.operators.fitting import (
    LIMIT,
    PROPORTIONAL,
    evenly,
    fit_operator,
    predicted_errors,
)
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.memory_bound import ELEMENTWISE
from symscale.measure.operators.products import MATRIX_PRODUCT
from symscale.measure.readers.files import read_measurements

DATA = ROOT / "tests" / "data" / "measurements"
DOCS = ROOT / "docs" / "calibration"
NCCL, GEMM = str(DOCS / "nccl-all-reduce.log"), str(DOCS / "gemm.csv")
BETWEEN = str(DATA / "nccl-all-gather-2-nodes.log")


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


@pytest.mark.parametrize(
    ("file", "name", "most_flop", "reached"),
    [
        ("operators-cpu.json", "matrix product", 6e10, 0.033),
        ("operators-cpu.json", "layer norm", 0, 0.07),
        ("operators-cpu-quiet.json", "matrix product", 6e10, 0.022),
        ("operators-cpu-quiet.json", "layer norm", 0, 0.092),
    ],
)
def test_twelve_sizes_predict_the_others_on_a_real_machine(
    file: str, name: str, most_flop: float, reached: float
) -> None:
    """Measured twice, on a processor that others used and on a quiet one: unseen sizes."""
    reading = read_measurements(str(DATA / file))
    found = [one for one in reading.measurements if one.operator.name == name]
    assert min(one.flop for one in found) <= 6.6e7
    assert max(one.flop for one in found) >= most_flop
    fitted, rest = evenly(found, 12)
    assert (len(fitted), len(rest) >= 15, set(fitted) & set(rest)) == (12, True, set())
    model = fit_operator(fitted)
    errors = [abs(e) for e in predicted_errors(model, rest)]
    assert median(errors) < LIMIT
    assert median(errors) < reached  # what it is, so that a change is seen
    plain = predicted_errors(fit_operator(fitted, PROPORTIONAL), rest)
    # A processor starts an operator at once: the proportional model is nearly as good.
    assert median(errors) < median([abs(e) for e in plain]) + 0.01
    # Nor does it lean to one side.
    assert abs(math.fsum(predicted_errors(model, rest)) / len(rest)) < 0.1


def test_two_logs_become_a_machine(tmp_path: Path) -> None:
    file = tmp_path / "mycluster.toml"
    done = run("fit", NCCL, GEMM, "-o", str(file))
    assert (done.code, done.err) == (0, "")
    machine = load_machine(str(file))
    assert machine.base == "h100-sxm"  # by the device's name in the log
    node = machine.tiers[0]
    assert node.bandwidth.direction == "one-way"
    assert float(node.bandwidth.one_way) == pytest.approx(370e9, rel=0.02)
    assert node.latency is not None
    assert float(node.latency.si) == pytest.approx(11e-6, rel=0.03)  # an all-reduce has two
    assert float(machine.sustained_flop_rate) == pytest.approx(660e12, rel=0.02)
    assert float(machine.product_latency_s) == pytest.approx(5e-6, rel=0.06)
    for figure in (node.bandwidth, node.latency, machine.figure("sustained_fraction")):
        assert figure.source.startswith("measured: ")
        assert re.search(r"standard error 0\.\d+ of it; \d+ sizes, .* median error", figure.note)
    # What was not measured is the preset's, with its source.
    assert machine.tiers[1] == load_machine("h100-sxm").tiers[1]
    assert parameters_of(lump(machine, "node"), Fraction(2))
    assert run("limits", "--hardware", str(file)).code == 0
    assert run("fit", NCCL, GEMM, "-o", str(file)).code == 2
    assert run("fit", NCCL, GEMM, "-o", str(file), "--force").code == 0


def test_the_example_of_the_documentation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(DOCS)
    file = tmp_path / "mycluster.toml"
    done = run("fit", "nccl-all-reduce.log", "gemm.csv", "-o", str(file))
    assert file.read_text(encoding="utf-8") == Path("mycluster.toml").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(operator  .*?)```", page, re.DOTALL)
    assert shown in done.out


def test_logs_within_and_between_nodes_go_to_their_tiers(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    assert run("fit", NCCL, BETWEEN, "-o", str(file)).code == 0
    node, cluster = load_machine(str(file)).tiers
    assert float(node.bandwidth.one_way) == pytest.approx(370e9, rel=0.02)
    assert float(cluster.bandwidth.one_way) == pytest.approx(46e9, rel=0.02)
    assert "all-gather over 16 devices of 2 hosts" in cluster.bandwidth.note
    assert "nccl-all-gather-2-nodes.log" in cluster.bandwidth.source
    assert "nccl-all-reduce.log" not in cluster.bandwidth.source


def test_without_a_preset_all_that_is_needed_is_asked_for(tmp_path: Path) -> None:
    gemm = str(DOCS / "gemm.csv")
    assert "bandwidth of the memory" in run("fit", gemm).err
    stated = ["--memory-bandwidth", "3TB/s"]
    assert "memory of a device" in run("fit", gemm, *stated).err
    stated += ["--memory", "64GB"]
    assert "bandwidth of the network" in run("fit", gemm, *stated).err
    links = tmp_path / "links.csv"
    links.write_text(
        "operator,size_MiB,devices,busbw (GB/s)\n" + "".join(
            f"all-reduce,{2**i},4,{100 * 2**i / (2**i + 1):.3f}\n" for i in range(6)
        ), encoding="utf-8",
    )
    file = tmp_path / "m.toml"
    done = run("fit", gemm, str(links), *stated, "-o", str(file))
    assert (done.code, done.err) == (0, "")
    machine = load_machine(str(file))
    assert [tier.name for tier in machine.tiers] == ["cluster"]
    assert machine.figures["flop_rate"].condition == "dense, 16 bit"
    assert machine.figures["memory_bandwidth"].source == "stated with --memory-bandwidth"
    assert float(machine.sustained_flop_rate) == pytest.approx(660e12, rel=0.02)
    # busbw is 100 GB/s without the latency, which is 1.5 MiB / (100 GB/s) in two phases.
    (tier,) = machine.tiers
    assert tier.latency is not None
    assert float(tier.bandwidth.one_way) == pytest.approx(100e9, rel=1e-3)
    assert float(tier.latency.si) == pytest.approx(1.5 * 2**20 / 100e9 / 2, rel=1e-3)
    # With a preset of two tiers the file must say over which the collective ran.
    assert "--tier node or --tier cluster" in run("fit", str(links), "--base", "a100-sxm").err
    assert run("fit", str(links), "--base", "a100-sxm", "--tier", "node").code == 0
    assert run("fit", str(links), "--base", "a100-sxm", "--tier", "nods").code == 2


def test_what_cannot_be_is_refused() -> None:
    assert "more than the 181 of AMD Instinct MI210" in run("fit", GEMM, "--base", "mi210").err
    mixed = run("fit", NCCL, str(DATA / "rccl-all-reduce-mi300x.log"))
    assert "fit one kind of device at a time" in mixed.err
    both = run("fit", GEMM, str(DATA / "deepbench.txt"), "--base", "h100-sxm")
    assert "a hardware file has one; fit them apart" in both.err
    for option in (("--precision", "12"), ("--devices", "1"), ("--memory", "64"),
                   ("--memory", "-3GB"), ("--limit", "x"), ("--operator", "prayer"),
                   ("--base", "h1000"), ("-o", "m.csv")):
        done = run("fit", GEMM, *option)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), option


def test_a_fit_worse_than_its_limit_warns_and_names_sizes(tmp_path: Path) -> None:
    """Times that jump between two rates, as when half of the links are slow."""
    rows = ["operator,tokens,width,dtype,time_us"]
    rows += [f"layer norm,{2**i},1024,fp32,{2**i * (1 + 0.9 * (i % 2)):g}" for i in range(4, 14)]
    file = tmp_path / "slow.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = run("fit", str(file), "--base", "h100-sxm")
    assert done.code == 0
    assert re.match(
        r"symscale: warning: layer norm, 32 bit: the median error on sizes left out is \d+%, "
        r"more than 15%; on \d+ x 1024 \([+-]\d+%\), ", done.err,
    )
    assert run("fit", str(file), "--base", "h100-sxm", "--limit", "60%").err == ""
    data = json.loads(run("fit", str(file), "--base", "h100-sxm", "--format", "json").out)
    assert len(data["warnings"]) == 1


def test_json_of_a_fit() -> None:
    data = json.loads(run("fit", NCCL, GEMM, "--format", "json").out)
    link, product = data["operators"]
    assert (link["operator"], link["devices"], link["hosts"], link["sizes"]) == (
        "all-reduce", 8, 1, 18
    )
    assert link["bandwidth_bytes_per_s"] == pytest.approx(370e9, rel=0.02)
    assert product["left_out"]["median_error"] < product["proportional"]["median_error"]
    assert 0 < product["relative_standard_errors"]["rate"] < 0.02
    names = {figure["name"] for figure in data["figures"]}
    assert {"node.bandwidth", "node.latency", "sustained_fraction"} <= names
    for form in ("latex", "markdown", "text"):
        assert run("fit", NCCL, GEMM, "--format", form).code == 0


def test_texts_of_users_stay_texts(tmp_path: Path) -> None:
    r"""A file name with quotes and backslashes must not escape from its string of TOML."""
    file = tmp_path / 'a"] x = 1 \\ #.csv'
    file.write_bytes(Path(GEMM).read_bytes())
    out = tmp_path / "m.toml"
    assert run("fit", str(file), "--base", "h100-sxm", "-o", str(out)).code == 0
    assert 'a"] x = 1' in load_machine(str(out)).figure("sustained_fraction").source
    assert quoted("a\nb") == '"a\\\\nb"'


def test_a_profile_of_ones_own_becomes_a_machine(tmp_path: Path) -> None:
    """What `profile` writes states the memory, so that no preset is needed."""
    ones = [
        Measurement(MATRIX_PRODUCT, {"m": n, "n": n, "k": n, "batch": 1}, 4,
                    2 * n**3 / 1e11 + 1e-5, "x") for n in (128, 256, 512, 1024, 2048)
    ]
    ones += [
        Measurement(ELEMENTWISE, {"tokens": t, "width": 1024, "inputs": 2}, 4,
                    t * 1024 * 12 / 2e10, "x") for t in (4096, 8192, 16384)
    ]
    ones += [
        Measurement(ALL_REDUCE, {"size_bytes": 4**i * 1024, "devices": 2}, 0,
                    4**i * 1024 / 4e9 + 6e-5, "x") for i in range(2, 8)
    ]
    from symscale.measure.readers.json_files import measurements_data

    facts = {"device": "a processor", "memory_bytes": 16 * 10**9, "processes": True}
    file, out = tmp_path / "cpu.json", tmp_path / "cpu.toml"
    file.write_text(json.dumps(measurements_data(ones, facts)), encoding="utf-8")
    assert run("fit", str(file), "-o", str(out)).err == ""
    machine = load_machine(str(out))
    assert float(machine.sustained_flop_rate) == pytest.approx(1e11, rel=1e-3)
    assert float(machine.figures["memory_bandwidth"].both_ways) == pytest.approx(2e10, rel=1e-3)
    assert machine.memory_capacity_bytes == 16 * 10**9
    (tier,) = machine.tiers
    assert "processes of one host, no network" in tier.bandwidth.source
    assert float(tier.bandwidth.one_way) == pytest.approx(4e9, rel=1e-3)
