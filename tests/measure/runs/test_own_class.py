"""Cluster classes from runs of one's own: fitted, judged, written, read again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commands import answer, refusal
from places import ROOT
from symscale.facts.machines.lumped import load_machine
from symscale.measure.runs.classes import load_class
from symscale.measure.runs.own_class import class_text, own_class
from symscale.measure.runs.rates import computed_of, works_of
from symscale.measure.runs.runs import published_runs

PUBLISHED = ROOT / "symscale/measure/runs/published"
VTRAIN = PUBLISHED / "vtrain-a100.csv"


def first_rows(count: int, path: Path, file: str = "vtrain-a100.csv") -> str:
    lines = (PUBLISHED / file).read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[: count + 1]), encoding="utf-8")
    return str(path)


def test_runs_become_a_class_that_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "new" / "mine.toml"
    fit = ("validate", str(VTRAIN), "--calibrate", str(file))
    found = json.loads(answer(*fit, "--format", "json"))
    assert [row["seen"] for row in found["rows"][:4]] == [True, False, True, False]
    unseen = [abs(r["relative_difference"]) for r in found["rows"] if not r["seen"]]
    assert found["runs"] == len(unseen) == 27
    assert found["mape"] == pytest.approx(sum(unseen) / len(unseen))
    assert found["at_bound"] == ["the links within a node"]
    # The class that ships was fitted by the same rule.
    mine, shipped = load_class(str(file)), load_class("a100")
    for name in ("flop_rate", "memory_rate", "link_rates", "block_overhead_s", "overlap"):
        assert getattr(mine.rates, name) == pytest.approx(getattr(shipped.rates, name), rel=1e-3)
    again = json.loads(answer("validate", str(VTRAIN), "--class", str(file), "--format", "json"))
    for one, other in zip(found["rows"], again["rows"], strict=True):
        assert one["computed"] == pytest.approx(other["computed"], rel=1e-12)
    assert again["runs"] == 55
    assert "exists" in refusal(*fit)


def test_gradients_that_hide_are_found() -> None:
    """Times made by the formula itself, with and without hiding, are told apart."""
    machine, runs = load_machine("a100-sxm"), published_runs("bigscience-2022-a100.csv")
    rates = load_class("a100-jean-zay").rates
    sizes = [tier.size for tier in machine.tiers]
    for overlap in (0.0, 1.0):
        times = computed_of(runs, works_of(runs, sizes), replace(rates, overlap=overlap))
        made = [replace(run, published=float(t)) for run, t in zip(runs, times, strict=True)]
        found = own_class(made, machine, "x", "x.csv").cluster.rates
        assert found.overlap == overlap
        assert found.flop_rate == pytest.approx(rates.flop_rate, rel=0.01)
        assert found.link_rates == pytest.approx(rates.link_rates, rel=0.02)
        assert found.block_overhead_s == pytest.approx(rates.block_overhead_s, rel=0.02)


def test_few_runs_are_all_fitted_and_it_is_said(tmp_path: Path) -> None:
    for count, seen in ((5, 5), (9, 9), (10, 5)):
        path = first_rows(count, tmp_path / f"{count}.csv")
        text = answer("validate", path, "--calibrate", str(tmp_path / f"{count}.toml"))
        assert ("all of which the fit saw" in " ".join(text.split())) == (seen == count)
        assert text.count(" seen") - text.count("saw") >= seen - 1
    path = first_rows(4, tmp_path / "4.csv")
    line = refusal("validate", path, "--calibrate", str(tmp_path / "4.toml"))
    assert "4 runs do not determine 5 constants" in line
    assert not (tmp_path / "4.toml").exists()


def test_a_machine_of_ones_own_is_found_from_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class names its machine by the way from its own folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "machines").mkdir()
    Path("machines/cluster.toml").write_text(
        'base = "a100-sxm"\nreason = "other links"\ntitle = "Ours"\n', encoding="utf-8"
    )
    own = ("--hardware", "machines/cluster.toml", "--calibrate", "classes/ours.toml")
    assert "Ours, calibrated" in answer("validate", str(VTRAIN), *own)
    assert 'device = "../machines/cluster.toml"' in Path("classes/ours.toml").read_text()
    monkeypatch.chdir(tmp_path / "machines")
    assert load_class("../classes/ours.toml").machine.title == "Ours"


def test_refusals(tmp_path: Path) -> None:
    file = str(tmp_path / "x.toml")
    assert "give one of them" in refusal(
        "validate", str(VTRAIN), "--calibrate", file, "--class", "a100")
    assert "runs of your own" in refusal("validate", "--calibrate", file)
    assert "ends in .toml" in refusal("validate", str(VTRAIN), "--calibrate", file[:-5])
    twice = refusal(
        "validate", str(VTRAIN), "--calibrate", file, "-o", file, "--format", "text"
    )
    assert "names the same file" in twice
    endless = ("--hardware", "h100-sxm-infinite-network-and-ll")
    line = refusal("validate", str(VTRAIN), "--calibrate", file, *endless)
    assert "links within a node and between nodes" in line
    assert not Path(file).exists()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('title = "', 'titel = "', "titel"),
        ('device = "a100-sxm"', 'device = "a1000"', "a1000"),
        ('direction = "one-way", ', "", "direction"),
        ('condition = "dense, 16 bit, sustained", ', "", "condition"),
        ("value = 252.9", "value = -1", "flop_rate"),
        ("value = 1393", 'value = "many"', "memory_rate"),
        ('unit = "ms"', 'unit = "GB"', "block_overhead"),
        ("gradients_overlap = false", "gradients_overlap = 2", "gradients_overlap"),
        ("fitted = ", "# ", "has no fitted"),
        ("block_overhead = ", "# ", "has no block_overhead"),
    ],
)
def test_bad_classes_are_refused(tmp_path: Path, old: str, new: str, named: str) -> None:
    file = tmp_path / "bad.toml"
    text = class_text(load_class("a100"), "a100-sxm")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    assert named in refusal("validate", str(VTRAIN), "--class", str(file))


def test_a_class_that_is_not_there(tmp_path: Path) -> None:
    assert "no such file" in refusal("validate", str(VTRAIN), "--class", str(tmp_path / "a.toml"))


# What hostile input found


@pytest.mark.parametrize("value", ["1e-300", "5e-324", "1e-310", "1e-7"])
@pytest.mark.parametrize("metric", ["iteration_ms", "tflops_per_gpu"])
def test_measured_values_that_cannot_be_are_refused(
    value: str, metric: str, tmp_path: Path
) -> None:
    lines = VTRAIN.read_text(encoding="utf-8").splitlines()
    head = lines[0].replace("iteration_ms", metric)
    rows = [",".join([*line.split(",")[:-1], value]) for line in lines[1:11]]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join([head, *rows]), encoding="utf-8")
    for more in ((), ("--calibrate", str(tmp_path / "c.toml")), ("--format", "json")):
        assert f"runs.csv:2: {metric} {value} is too small" in refusal("validate", str(file), *more)


def test_a_file_of_many_models_is_refused(tmp_path: Path) -> None:
    head, row = VTRAIN.read_text(encoding="utf-8").splitlines()[:2]
    file = tmp_path / "runs.csv"
    rows = [row.replace(",3072,", f",{32 * k},") for k in range(1, 202)]
    file.write_text("\n".join([head, *rows]), encoding="utf-8")
    assert "more than 200 different models" in refusal("validate", str(file))


def test_runs_of_one_plan_determine_nothing(tmp_path: Path) -> None:
    head, row = VTRAIN.read_text(encoding="utf-8").splitlines()[:2]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join([head, *[row] * 12]), encoding="utf-8")
    line = refusal("validate", str(file), "--calibrate", str(tmp_path / "c.toml"))
    assert "too few plans, 1, to determine 5 constants" in line


def test_constants_at_either_end_are_named(tmp_path: Path) -> None:
    head, *rows = VTRAIN.read_text(encoding="utf-8").splitlines()
    slow = [",".join([*row.split(",")[:-1], "1e9"]) for row in rows[:20]]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join([head, *slow]), encoding="utf-8")
    fit = ("validate", str(file), "--calibrate", str(tmp_path / "c.toml"), "--format", "json")
    assert len(json.loads(answer(*fit))["at_bound"]) == 5


@pytest.mark.parametrize(
    "more",
    [("--format", "pdf"), ("-o", "{}/out.svg"), ("-o", "{}/no.csv"), ("--plot", "{}/x.txt"),
     ("-o", "/proc/x.txt")],
)
def test_a_class_is_written_last(more: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    refusal("validate", str(VTRAIN), "--calibrate", str(file), more[0], more[1].format(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_class_does_not_replace_what_it_is_made_of(tmp_path: Path) -> None:
    runs, machine = tmp_path / "runs.toml", tmp_path / "machine.toml"
    runs.write_bytes(VTRAIN.read_bytes())
    machine.write_text('base = "a100-sxm"\nreason = "x"\n', encoding="utf-8")
    (tmp_path / "link.toml").symlink_to(runs)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    for target in (runs, machine, tmp_path / "link.toml", tmp_path / "." / "machine.toml"):
        line = refusal("validate", str(runs), "--hardware", str(machine), "--calibrate",
                       str(target), "--force")
        assert "is that file; name another" in line
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_classes_load_again_from_wherever_they_lie(tmp_path: Path) -> None:
    """Through links of another depth, and from a link's own place."""
    (tmp_path / "deep/er/still").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep/er/still")
    machine = tmp_path / "machine.toml"
    machine.write_text('base = "a100-sxm"\nreason = "x"\ntitle = "Ours"\n', encoding="utf-8")
    target = tmp_path / "link" / "c.toml"
    answer("validate", first_rows(7, tmp_path / "r.csv"), "--hardware", str(machine),
           "--calibrate", str(target))
    for way in (target, tmp_path / "deep/er/still/c.toml"):
        assert load_class(str(way)).machine.title == "Ours"


@pytest.mark.parametrize("name", [" lead.toml", "ctl\x1b.toml", "a\nb.toml"])
def test_paths_that_a_class_cannot_name_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    machine = tmp_path / name
    machine.write_text('base = "a100-sxm"\nreason = "x"\n', encoding="utf-8")
    runs, target = first_rows(7, tmp_path / "r.csv"), tmp_path / "c.toml"
    done = ("validate", runs, "--hardware", str(machine), "--calibrate", str(target))
    assert "a class cannot name this path" in refusal(*done)
    assert not target.exists()


def test_names_with_control_characters_stay_text(tmp_path: Path) -> None:
    runs = tmp_path / "\x1b[31mred\x07\u202e.csv"
    first_rows(7, runs)
    target = tmp_path / "c\x1b[31m.toml"
    for form in ("text", "markdown", "latex", "json"):
        out = answer("validate", str(runs), "--calibrate", str(target), "--force", "--format", form)
        assert out.replace("\n", "").isprintable()
    assert load_class(str(target)).fitted.startswith("five constants, fitted on all runs of ")
