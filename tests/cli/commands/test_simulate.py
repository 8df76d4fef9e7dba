"""The commands of the simulator: what they print, write and refuse."""

import csv
import io
import json
import math
from math import prod
from pathlib import Path

import pytest

from commands import Done, answer, run
from paper_code import FOLDER, rows
from symscale.cli.output.part_file import PartFile
from symscale.errors import InputError
from symscale.facts.machines.lumped import load_machine
from symscale.pages.figures.drawing import FORMATS
from symscale.simulator.sparse_mlp import curve as curve_module
from symscale.simulator.sparse_mlp.planning import best_plans, binding, components
from symscale.simulator.sparse_mlp.shapes import Rules, Shape, make_shape
from symscale.simulator.sparse_mlp.step import Schedule
from symscale.simulator.tables.plans import RESULT_COLUMNS

NARROW = ("simulate", "--hardware", "h100-sxm", "--widths", "12288..18432")


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def refused(*arguments: str, code: int = 2) -> str:
    """The one line with which a command refuses; nothing goes to standard output."""
    done: Done = run(*arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("symscale: ")
    assert done.err.count("\n") == 1
    return done.err


def test_the_table_of_a_curve_has_the_published_columns(tmp_path: Path) -> None:
    """Every number of the published table, whatever the plan among those that tie."""
    file = tmp_path / "curve.csv"
    answer("simulate", "--hardware", "h100-sxm", "--csv", str(file))
    ours, published = table(file.read_text()), rows("curve-dense-H100-SXM.csv")
    assert len(ours) == len(published)
    assert list(ours[0])[: len(published[0])] == list(published[0])
    same = ("d_model", "d_ff", "params", "layers", "sparsity", "batch_tokens", "compute_flop", "N")
    for row, other in zip(ours, published, strict=True):
        assert [float(row[n]) for n in same] == [float(other[n]) for n in same]
        for name in ("months", "utilization"):
            assert math.isclose(float(row[name]), float(other[name]), rel_tol=1e-9)
        levels = [row[f"{n}_levels"] for n in ("N_DP", "N_TP_model", "N_TP_ff", "N_PP", "N_EP")]
        assert prod(int(d) for text in levels for d in text.split("x")) == int(row["N"])
    marks = {row["mark"]: f"{float(row['compute_flop']):.2e}" for row in ours if row["mark"]}
    last = f"{float(published[-1]['compute_flop']):.2e}"
    assert marks == {"end of linear scaling": "2.05e+28", "last feasible run": last}
    assert not file.with_name("curve.csv.part").exists()


def test_a_curve_in_text_and_json() -> None:
    text = answer(*NARROW)
    assert "91.2616 days" in text
    assert "1x32x64x1" in text
    assert "Linear scaling does not end here" in text
    (found,) = json.loads(answer(*NARROW, "--format", "json"))["curves"]
    assert [p["d_model"] for p in found["points"]] == [12288, 14336, 16384, 18432]
    assert found["end_of_linear_scaling_flop"] is None


def test_several_machines_share_a_table(tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    answer("simulate", "--hardware", "v100-sxm,H100 SXM", "--sparse", "--widths", "12288,16384",
           "--csv", str(file))  # fmt: skip
    assert [(r["hardware"], r["sparsity"], r["N"]) for r in table(file.read_text())] == [
        ("v100-sxm", "8", "65536"), ("v100-sxm", "10", "655360"),
        ("h100-sxm", "8", "16384"), ("h100-sxm", "10", "81920"),
    ]  # fmt: skip


def test_batch_rules() -> None:
    """Constant: 2^22 tokens. DeepSeek's fit at 6.45e24 FLOP, to the nearest round number."""
    base = ("simulate", "--hardware", "h100-sxm", "--widths", "12288", "--format", "json")
    sequences = 0.2920 * 6.454884686272446e24**0.3271 / 2048
    nearest = min((f << i for f in (1, 3, 5, 7, 9) for i in range(30)),
                  key=lambda n: abs(n - sequences))  # fmt: skip
    for rule, tokens in (("none", 2**22), ("deepseek", nearest * 2048), ("3*2^20", 3 * 2**20)):
        (found,) = json.loads(answer(*base, "--batch-rule", rule))["curves"]
        assert found["points"][0]["batch_tokens"] == tokens


def test_several_batch_rules_make_a_curve_each(tmp_path: Path) -> None:
    """A batch that grows faster keeps utilization up for longer."""
    file, plot = tmp_path / "rules.csv", tmp_path / "rules.svg"
    rules = ("none", "default", "2048^2*(T/3e23)^(1/3)")
    options = [word for rule in rules for word in ("--batch-rule", rule)]
    text = answer("simulate", "--hardware", "h100-sxm", *options, "--csv", str(file),
                  "--plot", str(plot))  # fmt: skip
    assert "NVIDIA H100 SXM, batch none" in text
    found = table(file.read_text())
    ends = [
        float(row["compute_flop"]) for rule in rules for row in found
        if row["batch_rule"] == rule and "end of linear" in row["mark"]
    ]
    assert [f"{end:.2e}" for end in ends[:2]] == ["2.85e+27", "2.05e+28"]
    assert len(ends) == 3
    assert ends[2] > ends[1]
    assert "batch default" in plot.read_text()
    assert "given twice" in refused("simulate", "--hardware", "h100-sxm", *options, *options)


def test_scaling_rules_of_ones_own() -> None:
    text = answer("simulate", "--hardware", "h100-sxm", "--widths", "12288", "--rule", "depth=96",
                  "--rule", "data=40*P", "--rule", "experts=3", "--format", "json")  # fmt: skip
    (found,) = json.loads(text)["curves"]
    point = found["points"][0]
    assert (point["layers"], point["sparsity"]) == (96, 3)
    parameters = 2 * 96 * 12288 * 49152 * 3
    assert math.isclose(point["compute_flop"], 6 * parameters / 3 * 40 * parameters)


def test_a_longer_run_needs_no_larger_cluster() -> None:
    """At twice the time the smallest cluster is as large or smaller, never larger."""
    def devices(duration: str) -> list[int]:
        text = answer(*NARROW, "--duration", duration, "--format", "json")
        return [p["N"] for p in json.loads(text)["curves"][0]["points"]]

    for longer, shorter in zip(devices("180d"), devices("90d"), strict=True):
        assert longer <= shorter


@pytest.mark.parametrize("ending", FORMATS)
def test_plots(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"curve{ending}"
    answer("simulate", "--hardware", "h100-sxm,v100-sxm", "--plot", str(file))
    assert file.stat().st_size > 5000


def test_an_interrupted_curve_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done is kept and not done again; the result is that of an undisturbed run."""
    whole, file = tmp_path / "whole.csv", tmp_path / "cut.csv"
    answer("simulate", "--hardware", "h100-sxm", "--csv", str(whole))
    asked: list[int] = []
    search = vars(curve_module)["search"]

    def interrupted(machine: object, problems: list[object], **more: object) -> object:
        asked.append(len(problems))
        if len(asked) > 5:
            raise KeyboardInterrupt
        return search(machine, problems, **more)

    monkeypatch.setattr(curve_module, "search", interrupted)
    monkeypatch.setattr(curve_module, "_TOGETHER", 6)
    done = run("simulate", "--hardware", "h100-sxm", "--csv", str(file))
    assert done.code == 130
    part = tmp_path / "cut.csv.part"
    held = part.read_text().count("\n") - 2
    assert 0 < held < 31
    assert not file.exists()
    part.write_text(part.read_text() + "12288,49")  # a line that was cut off
    monkeypatch.undo()
    answer("simulate", "--hardware", "h100-sxm", "--csv", str(file))
    assert file.read_text() == whole.read_text()
    assert not part.exists()


def test_a_part_of_another_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    part = tmp_path / "a.csv.part"
    part.write_text("# something else\nd_model\n")
    assert "belongs to another run" in refused(*NARROW, "--csv", str(file))
    assert part.read_text().startswith("# something else")


def test_a_complete_table_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("mine")
    assert "--force" in refused(*NARROW, "--csv", str(file))
    assert file.read_text() == "mine"
    answer(*NARROW, "--csv", str(file), "--force")
    assert file.read_text().startswith("d_model,")


def test_part_files_refuse_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.csv.part").mkdir()
    with pytest.raises(InputError, match="name another file"):
        PartFile(tmp_path / "folder.csv", "a run").start("x\n")


@pytest.mark.parametrize("name", ["plan-times.csv", "plan-times-extra.csv"])
def test_evaluating_the_published_plans(name: str, tmp_path: Path) -> None:
    """Every column of both files, from their other columns."""
    published, file = rows(name), tmp_path / "plans.csv"
    given = [n for n in published[0] if n not in RESULT_COLUMNS]
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, given, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(published)
    ours = table(answer("evaluate", str(file)))
    assert len(ours) == len(published)
    for row, other in zip(ours, published, strict=True):
        for column, text in other.items():
            if column in RESULT_COLUMNS:
                assert math.isclose(float(row[column]), float(text), rel_tol=1e-9), column
            else:
                assert row[column] == text


def test_help_of_evaluate() -> None:
    assert "PLANS.csv" in answer("evaluate", "--help")


def test_evaluating_into_a_file(tmp_path: Path) -> None:
    """A table that has results already gets them anew, in their place."""
    file = tmp_path / "out.csv"
    source = FOLDER / "plan-times.csv"
    assert answer("evaluate", str(source), "-o", str(file)) == ""
    with source.open() as stream:
        header = stream.readline().strip()
    assert file.read_text().splitlines()[0] == f"{header},memory_bytes_with_activations"
    assert "--force" in refused("evaluate", str(source), "-o", str(file))


def changed(tmp_path: Path, **columns: str) -> str:
    """The path of a table of one published plan, some columns changed."""
    row = {**rows("plan-times.csv")[3], **columns}
    file = tmp_path / "one.csv"
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(row))
        writer.writeheader()
        writer.writerow(row)
    return str(file)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"gpu": "H200"}, "unknown hardware 'h200'"),
        ({"N_DP": "4"}, "has 1 tiers"),
        ({"N_DP": "8x4"}, "the degrees take 64 of the 8 units of a node"),
        ({"N_DP": "0x4"}, "no whole number"),
        ({"N_DP": "1x3"}, "does not divide batch tokens"),
        ({"N_PP": "1x9"}, "does not divide layers"),
        ({"N_EP": "1x2"}, "does not divide sparsity"),
        ({"N_TP_ff": "2x5"}, "does not divide d_ff"),
        ({"d_model": "12.5"}, "no whole number"),
        ({"d_model": "-1"}, "no whole number"),
        ({"d_model": "nan"}, "no whole number"),
        ({"layers": "1e400"}, "no whole number"),
        ({"zero_bubble": "2"}, "neither 0 nor 1"),
        ({"zero_bubble": "1"}, "zero_bubble needs pp_interleaving 1"),
        ({"overlap_TP": "maybe"}, "neither 0 nor 1"),
    ],
)
def test_plans_that_cannot_be(columns: dict[str, str], message: str, tmp_path: Path) -> None:
    line = refused("evaluate", changed(tmp_path, **columns))
    assert message in line
    assert "line 2" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("gpu,gpu\n", "two columns"),
        ("gpu,d_model\nx,1\n", "has no column d_ff"),
        ((FOLDER / "plan-times.csv").read_text().splitlines()[0], "has no rows"),
        ((FOLDER / "plan-times.csv").read_text() + "1,2\n", "has 2 values for"),
        ('"' + "x" * 200_000 + '"\n', "is not CSV"),
    ],
)
def test_tables_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "plans.csv"
    file.write_text(text)
    assert message in refused("evaluate", str(file))


def test_a_plan_in_text_and_json() -> None:
    arguments = ("plan-mlp", "--d-model", "53248", "--hardware", "h100-sxm",
                 "--devices", "8388608")  # fmt: skip
    text = answer(*arguments)
    for part in ("0.5527", "tensor traffic", "zero-bubble schedule; 128 microbatches",
                 "Runners-up", "2.048e28 FLOP"):  # fmt: skip
        assert part in text
    data = json.loads(answer(*arguments, "--format", "json", "--runners-up", "2"))
    (row,) = [r for r in rows("curve-dense-H100-SXM.csv") if r["d_model"] == "53248"]
    best = data["best"]
    assert math.isclose(best["utilization"], float(row["utilization"]), rel_tol=1e-9)
    assert math.isclose(best["months"], float(row["months"]), rel_tol=1e-9)
    assert prod(d["total"] for d in best["degrees"].values()) == 8388608
    assert prod(d["by_tier"]["node"] for d in best["degrees"].values()) == 8
    assert len(data["runners_up"]) == 2
    later = [p["step_s"] for p in data["runners_up"]]
    assert best["step_s"] <= later[0] <= later[1]


def test_the_wide_space_from_the_command_line() -> None:
    """A cluster that is no power of two, with room for activations; better than published."""
    (wide,) = json.loads(answer(*NARROW, "--wide", "--format", "json"))["curves"]
    (published,) = json.loads(answer(*NARROW, "--format", "json"))["curves"]
    assert wide["points"][0]["N"] < published["points"][0]["N"]
    arguments = ("plan-mlp", "--d-model", "40960", "--hardware", "h100-sxm", "--devices", "2097152",
                 "--format", "json")  # fmt: skip
    best, other = (json.loads(answer(*arguments, *more)) for more in (["--wide"], []))
    assert (best["assumptions"]["space"], other["assumptions"]["space"]) == ("wide", "published")
    assert best["best"]["utilization"] > other["best"]["utilization"]
    for plan in (best["best"], *best["runners_up"]):
        used = plan["state_bytes_per_device"] + plan["activation_bytes_per_device"]
        assert used <= best["memory_capacity_bytes"]


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_documents_in_other_formats(form: str) -> None:
    assert "12288" in answer(*NARROW, "--format", form)
    text = answer("plan-mlp", "--d-model", "12288", "--hardware", "h100-sxm", "--devices", "2048",
                  "--format", form)  # fmt: skip
    assert "zero-bubble" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--devices 16", "memory: parameters and optimizer need 2.319 TB"),
        ("--devices 12", "no whole number of nodes of 8"),
        ("--devices 1024 --duration 1mo", "time: the fastest run takes 105.4 days"),
        ("--devices 8072", "no degrees multiply to it"),  # 8 x 1009
    ],
)
def test_clusters_that_no_plan_fits(arguments: str, message: str) -> None:
    line = refused(
        "plan-mlp", "--d-model", "12288", "--hardware", "h100-sxm", *arguments.split(), code=1
    )
    assert message in line
    assert "the smallest cluster that would do has" in line


def test_the_smallest_cluster_that_would_do() -> None:
    """It has a plan, and half of it has none: 2.3 TB and more fit into 32 x 80 GB only."""
    machine, shape = load_machine("h100-sxm"), make_shape(12288)
    assert best_plans(machine, shape, 32)
    assert "has 32 devices" in refused(
        "plan-mlp", "--d-model", "12288", "--hardware", "h100-sxm", "--devices", "16", code=1
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("simulate", "--hardware"),
        ("simulate --hardware ,", "--hardware"),
        ("simulate --hardware h100-sxm,h100_sxm", "given twice"),
        ("simulate --hardware h101", "unknown hardware"),
        ("simulate --hardware h100-sxm --widths 5..9", "no width of the study"),
        ("simulate --hardware h100-sxm --widths ,", "is empty"),
        ("simulate --hardware h100-sxm --widths x", "no whole number"),
        ("simulate --hardware h100-sxm --widths 0", "no width"),
        ("simulate --hardware h100-sxm --duration 90", "no unit"),
        ("simulate --hardware h100-sxm --duration 3GB", "--duration 3GB"),
        ("simulate --hardware h100-sxm --duration -3d", "no time"),
        ("simulate --hardware h100-sxm --duration 1e999d", "--duration"),
        ("simulate --hardware h100-sxm --rule width=3", "unknown rule 'width'"),
        ("simulate --hardware h100-sxm --rule depth=P", "unknown symbol 'P'"),
        ("simulate --hardware h100-sxm --rule depth=d_model-12288", "no size"),
        ("simulate --hardware h100-sxm --sparse --rule experts=2", "given twice"),
        ("simulate --hardware h100-sxm --batch-rule __import__('os')", "not allowed"),
        ("simulate --hardware h100-sxm --plot curve.txt", ".pdf, .svg, .png"),
        ("simulate --hardware h100-sxm --csv a.csv -o a.csv", "names the same file"),
        ("plan-mlp --hardware h100-sxm --d-model 12288", "--devices"),
        ("plan-mlp --hardware h100-sxm --devices 8", "--d-model"),
        ("plan-mlp --hardware h100-sxm --devices 0 --d-model 12288", "--devices"),
        ("plan-mlp --hardware h100-sxm,a100-sxm --devices 8 --d-model 12288", "one machine"),
        ("plan --hardware h100-sxm --devices 8 --model gpt --batch 8 --seq 8", "unknown model"),
        ("evaluate no-such-file.csv", "no such file"),
        ("evaluate .", "is not a file"),
    ],
)
def test_bad_input(
    arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments.split())
    assert list(tmp_path.iterdir()) == []


def test_no_cluster_in_time_is_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "none.csv"
    line = refused(*NARROW, "--duration", "1s", "--csv", str(file), code=1)
    assert "no cluster of h100-sxm finishes d_model = 12288" in line
    assert list(tmp_path.iterdir()) == []


def test_a_machine_that_lacks_a_figure(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'flop_rate = { value = 1e15, unit = "FLOP/s", condition = "dense, 16 bit", '
        'source = "a bench" }\n'
        'memory_bandwidth = { value = 3, unit = "TB/s", direction = "both", source = "a bench" }\n'
        'memory_capacity = { value = 80, unit = "GB", source = "a bench" }\n'
        'product_latency = { value = 4, unit = "us", source = "a bench" }\n'
        '[[tier]]\nname = "cluster"\n'
        'bandwidth = { value = 100, unit = "GB/s", direction = "both", source = "a bench" }\n'
        'latency = { value = 1, unit = "us", source = "a bench" }\n'
    )
    assert "has no multiprocessors" in refused("simulate", "--hardware", str(file))


SHAPES = [
    (Shape(1024, 4096, 8, 1, 2**17, 1e9), 64, "h100-sxm"),
    (Shape(1024, 4096, 6, 4, 2**16 * 3, 1e9), 64, "v100-sxm"),
    (make_shape(53248), 8388608, "h100-sxm"),
    (make_shape(90112, Rules(batch="none")), 2**27, "h100-sxm-low-latency"),
]


@pytest.mark.parametrize(("shape", "devices", "machine"), SHAPES)
def test_components_that_show_add_up_to_the_step(
    shape: Shape, devices: int, machine: str
) -> None:
    for overlaps in range(4):
        schedule = Schedule(bool(overlaps & 1), bool(overlaps & 2))
        points = best_plans(load_machine(machine), shape, devices, count=20, schedule=schedule)
        assert len(points) == 20
        for point in points:
            shown = sum(c.seconds for c in components(point) if not c.hidden)
            assert math.isclose(shown, point.plan.step_s, rel_tol=1e-12)
            assert binding(point) in [c.name for c in components(point) if not c.hidden]


def test_no_stream_of_a_product_is_slower_than_the_products() -> None:
    for point in best_plans(load_machine("h100-sxm"), make_shape(12288), 2048, count=20):
        assert max(point.streams.values()) <= point.parts["t_mm"] <= sum(
            point.streams.values()
        ) + 6 * 4.5e-6 * point.plan.microbatches * point.plan.problem.shape.layers
