"""The command line: what it prints, where it prints it, and how it refuses.

Most tests call the program within the process, with streams of their own; the few
that are about processes (pipes, encodings, what is imported) start one.
"""

import errno
import io
import os
import re
import stat
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import pytest

import symscale
from commands import ANSWERS, FORMATS, MACHINE, Terminal, answer, refusal, run
from places import ROOT
from symscale.cli.output.progress import waiting_line
from symscale.derivation.library import derivation_names
from symscale.facts.machines.lumped import machine_names
from symscale.language.symbols import NOTATION

PRESETS = ROOT / "symscale/facts/machines/presets"
COMMANDS = (
    "limits", "cliffs", "derive", "derivations", "hardware", "symbols", "asymptotics", "simulate",
    "plan", "compare", "validate",
)  # fmt: skip


def test_a_long_computation_shows_a_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It appears while the computation goes on, and is wiped at its end, whatever that is."""
    monkeypatch.setattr("symscale.cli.output.progress._PATIENCE_S", 0.0)
    stream = Terminal()

    def interrupted() -> NoReturn:
        with waiting_line("deriving it"):
            for _ in range(1000):
                if stream.getvalue():
                    break
                time.sleep(0.01)
            assert stream.getvalue() == "\rderiving it ... "
            raise KeyboardInterrupt

    with redirect_stderr(stream), pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue() == "\rderiving it ... \r" + " " * 60 + "\r"


def test_no_line_is_shown_elsewhere_or_early(monkeypatch: pytest.MonkeyPatch) -> None:
    with redirect_stderr(Terminal()) as stream, waiting_line("deriving it"):
        pass
    assert stream.getvalue() == ""
    monkeypatch.setattr("symscale.cli.output.progress._PATIENCE_S", 0.0)
    with redirect_stderr(io.StringIO()) as plain, waiting_line("deriving it"):
        time.sleep(0.05)
    assert plain.getvalue() == ""


def test_derive_waits_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    @contextmanager
    def noted(what: str) -> Iterator[None]:
        said.append(what)
        yield

    monkeypatch.setattr("symscale.cli.commands.derive.waiting_line", noted)
    assert "Result" in answer("derive", "nanobatch")
    assert said == ["deriving nanobatch and checking each step"]


def start(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start the program as a process of its own."""
    folder = str(Path(symscale.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "symscale", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def section(text: str, title: str) -> list[str]:
    """The lines below a heading of the text output, up to the next one."""
    lines = text.splitlines()
    (at,) = [k for k, line in enumerate(lines) if line == title]
    found = lines[at + 2 :]
    for k, line in enumerate(found):
        if set(line) == {"-"} and found[k - 1].strip() and len(line) == len(found[k - 1]):
            return found[: k - 1]
    return found


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


# What limits shows


def test_limits_shows_objective_pieces_and_the_one_that_rules() -> None:
    text = answer("limits", "--hardware", "h100-sxm")
    assert text.splitlines()[0] == "Largest training run at full utilization"
    assert "NVIDIA H100 SXM (h100-sxm), node level: the 8 devices of a node act" in text
    data, wall = (
        "27 b_0^2 t_d^2 W_mem^2 W_net^4 / (2560 C^4 E L_0^2)", "3 b_0^2 t_d^2 / (160 E L_0^2 tau^2)"
    )
    assert f"T = min of\n        {data}\n        {wall}\n" in text
    flat = " ".join(text.split())
    assert "Here T = 1.9241e28 FLOP: data movement rules; it binds arithmetic, network," in flat
    assert "data movement (rules here)\n~~~~" in text
    assert "\nlatency wall\n~~~~" in text
    assert f"    T = {data}\n" in text
    assert f"    T = {wall}\n" in text
    assert "value        1.9241e28 FLOP" in text
    assert "value        2.3053e31 FLOP" in text


def test_limits_shows_binding_constraints_and_multipliers() -> None:
    flat = " ".join(answer("limits", "--hardware", "h100-sxm").split())
    assert "binding arithmetic, network, DRAM, slicing, critical batch multipliers" in flat
    assert "binding critical batch, latency multipliers" in flat
    assert (
        "multipliers parameters: -1, tokens: -1, compute: -1, devices: 2, depth: -2, "
        "arithmetic: 2, network: 4, DRAM: 2, slicing: 2, critical batch: 2 rules where "
        "3 tau W_mem W_net^2 <= 4 C^2" in flat
    )


def test_limits_shows_elasticities() -> None:
    lines = section(answer("limits", "--hardware", "h100-sxm"), "Elasticities")
    rows = {line.split()[0]: line.split()[1:] for line in lines[4:] if line.strip()}
    assert rows == {
        "E": ["-1", "-1"], "t_d": ["2", "2"], "b_0": ["2", "2"], "L_0": ["-2", "-2"],
        "C": ["-4", "0"], "W_net": ["4", "0"], "W_mem": ["2", "0"], "tau": ["0", "-2"],
    }  # fmt: skip


def test_limits_shows_assumptions_with_values_and_sources() -> None:
    text = answer("limits", "--hardware", "h100-sxm")
    lines = section(text, "Parameters")
    values = {}
    for line in lines[3:]:
        if line[:1].strip():
            name, value = re.split(r"\s{2,}", line)[:2]
            values[name] = value
            assert re.split(r"\s{2,}", line)[3].strip(), line
    assert values == {
        "E": "1", "r_ff": "4", "r_D": "20 token", "t_d": "7889400 s", "b_0": "4000000 token",
        "L_0": "100", "T_0": "6e23 FLOP", "alpha": "0", "alpha_L": "0",
        "C": "7.915438e15 FLOP/s", "W_net": "2e11 word/s", "W_mem": "6.704e12 word/s",
        "tau": "9e-6 s", "w": "2 byte/word",
    }  # fmt: skip
    cited = set(re.findall(r"\[\d+\]", "\n".join(lines)))
    sources = {line.split()[0] for line in section(text, "Sources")[2:] if line.startswith("[")}
    assert {"[1]", "[2]"} <= cited <= sources
    assert "Hoffmann and others 2022, arXiv 2203.15556" in text
    assert "Erdil and Schneider-Joseph 2024, arXiv 2411.01137" in text


def test_without_hardware_everything_is_symbolic() -> None:
    text = answer("limits")
    assert "value   " not in "\n".join(section(text, "Pieces"))
    assert "FLOP:" not in text
    lines = section(text, "Parameters")
    symbolic = {line.split()[0] for line in lines[2:] if line[:1].strip() and "symbolic" in line}
    assert symbolic == {
        "E", "t_d", "b_0", "L_0", "T_0", "alpha", "alpha_L", "C", "W_net", "W_mem", "tau"
    }
    assert "1/(1 - 2 alpha)" in text


def test_what_is_set_is_a_number_without_hardware_too() -> None:
    lines = section(answer("limits", "--set", "b_0=8e6", "--duration", "30d"), "Parameters")
    rows = {line.split()[0]: " ".join(line.split()) for line in lines[2:] if line[:1].strip()}
    assert rows["b_0"].startswith("b_0 8000000 token")
    assert rows["t_d"].startswith("t_d 2592000 s")
    assert rows["b_0"].endswith("given by the user")
    assert "symbolic" in rows["L_0"]


def test_the_example_with_settings() -> None:
    text = answer(
        "limits", "--hardware", "a100-sxm", "--set", "b_0=8e6", "--set", "alpha=0.05",
        "--duration", "3mo",
    )
    assert "b_0^2 t_d^2 W_mem^2 W_net^4 / (2560 C^4 E L_0^2 T_0^(1/10)))^(10/9)" in text


@pytest.mark.parametrize("level", ["device", "node"])
def test_the_level_is_named(level: str) -> None:
    text = " ".join(answer("limits", "--hardware", "a100-sxm", "--level", level).split())
    acting = "each device by itself" if level == "device" else "the 8 devices of a node act as one"
    assert f"{level} level: {acting}." in text


def test_full_names_the_bounds_that_make_a_difference() -> None:
    text = " ".join(answer("limits", "--hardware", "h100-sxm", "--full").split())
    assert "No natural bound makes a difference here." in text
    few = " ".join(
        answer("limits", "--hardware", "h100-sxm", "--full", "--set", "W_net=1e11").split()
    )
    assert "With degrees free of their natural bounds the limit would be" in few


# What the other commands show


def test_cliffs_shows_utilization_and_where_it_falls() -> None:
    text = answer("cliffs", "--hardware", "h100-sxm")
    assert "U = min of\n        1\n" in text
    assert "full utilization below, data movement above: T = 1.9241e28 FLOP" in text
    flat = " ".join(text.split())
    assert "no run fits (critical batch, latency): T = 2.3053e31 FLOP" in flat


def test_cliffs_of_one_run() -> None:
    """At 16 times the first cliff the utilization is a half: U falls as the fourth root."""
    text = " ".join(
        answer("cliffs", "--hardware", "h100-sxm", "--set", "T=3.0785049208805770e29").split()
    )
    assert "Here U = 0.5: data movement rules" in text


@pytest.mark.parametrize("form", FORMATS)
def test_hardware_lists_every_machine(form: str) -> None:
    text = answer("hardware", "--format", form)
    for name in machine_names():
        assert name in text


def test_hardware_shows_every_figure_of_the_file() -> None:
    """The file is read here on its own: value, unit and direction of each figure appear."""
    text = answer("hardware", "h100-sxm")
    rows = {
        re.split(r"\s{2,}", line)[0]: " ".join(line.split())
        for line in text.splitlines()
        if line[:1].isalpha()
    }
    data = tomllib.loads((PRESETS / "h100-sxm.toml").read_text(encoding="utf-8"))
    figures = {name: table for name, table in data.items() if isinstance(table, dict)}
    for tier in data["tier"]:
        figures |= {f"{tier['name']}.{k}": v for k, v in tier.items() if isinstance(v, dict)}
    assert len(figures) > 12
    for name, figure in figures.items():
        value = "yes" if figure["value"] is True else str(figure["value"])
        unit = "" if figure.get("unit", "1") == "1" else f" {figure['unit']}"
        assert rows[name].startswith(f"{name} {value}{unit}"), rows[name]
        assert ("both directions" in rows[name]) == (figure.get("direction") == "both")
        assert re.search(r"\[\d+\]$", rows[name]), rows[name]


def test_symbols_shows_the_notation() -> None:
    lines = [line for line in answer("symbols").splitlines() if re.match(r"\S+ {2,}\S", line)]
    rows = {line.split()[0]: line.split()[1] for line in lines}
    for name, entry in NOTATION.items():
        assert rows[name] == entry.unit


@pytest.mark.parametrize("form", FORMATS)
def test_derivations_lists_every_one(form: str) -> None:
    text = answer("derivations", "--format", form)
    for name in derivation_names():
        assert name in text


@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
def test_every_command_prints_every_format(arguments: tuple[str, ...]) -> None:
    """Four different texts, the same each time."""
    texts = [answer(*arguments, "--format", form) for form in FORMATS]
    assert len(set(texts)) == len(FORMATS)
    assert texts[0] == answer(*arguments)
    assert texts[1].startswith("{")
    assert texts[2].startswith("\\documentclass")
    assert texts[3].startswith("# ")
    assert all(text.endswith("\n") and not text.endswith("\n\n") for text in texts)
    assert all(text.isascii() for text in texts)


# Help


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help(command: str, flag: str) -> None:
    text = answer(command, flag)
    assert text.startswith("Usage: ")
    assert command in text.splitlines()[0]
    for option in ("--format", "--output", "--force"):
        assert option in text
    assert all(form in text for form in FORMATS)


def test_the_list_of_commands() -> None:
    text = answer("--help")
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", text, re.MULTILINE)
    assert answer("--version") == f"symscale {symscale.__version__}\n"


def test_no_arguments_is_wrong_usage() -> None:
    done = run()
    assert (done.code, done.out) == (2, "")
    assert done.err == answer("--help")


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import contextlib, io, sys
from symscale.cli import main
for command in {COMMANDS!r}:
    sys.argv = ["symscale", command, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    assert "Usage" in out.getvalue()
print([m for m in ("sympy", "numpy", "scipy", "matplotlib", "mpmath") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(symscale.__file__).parents[1],
        capture_output=True, text=True, check=False,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


# Bad input

REFUSED: list[tuple[str, list[str]]] = [
    # The command, and what the line must name.
    ("limits --hardware h100", ["'h100'", "h100-sxm", "symscale hardware"]),
    ("limits --hardware zzz", ["'zzz'", "symscale hardware"]),
    ("limits --hardware=", ["''", "symscale hardware"]),
    ("cliffs --hardware H300-sxm", ["'h300-sxm'", "h100-sxm"]),
    ("limits --hardware h200-sxm", ["NVIDIA H200 SXM", "product_latency =", "tau"]),
    ("limits --full --hardware mi300x", ["AMD Instinct MI300X", "tier cluster", "latency ="]),
    ("cliffs --hardware mi210-node-two-cs", ["AMD MI210", "base =", "--set tau=9us"]),
    ("hardware --generations h100-pcie", ["NVIDIA H100 PCIe", "released ="]),
    ("hardware --generations h100-smx", ["'h100-smx'", "h100-sxm"]),
    ("hardware h100-sx", ["'h100-sx'", "h100-sxm"]),
    ("hardware no/such/machine", ["no/such/machine", ".toml"]),
    ("hardware nowhere.toml", ["nowhere.toml", "no such file"]),
    ("limits --set W_nett=1", ["'W_nett'", "W_net", "symscale symbols"]),
    ("limits --set c=1e15", ["'c'", "symscale symbols"]),
    ("limits --set C=2*Cc", ["--set C=2*Cc", "'Cc'"]),
    ("derive training", ["'training'", "training-limits", "symscale derivations"]),
    ("derive ../training_limits", ["training-limits"]),
    ("derive __init__", ["'__init__'", "symscale derivations"]),
    # Units
    ("limits --set C=1e15GB", ["--set C=1e15GB", "FLOP/s", "GB"]),
    ("limits --set W_net=100Gbps", ["100Gbps", "Gbit/s"]),
    ("limits --set t_d=4token", ["--set t_d=4token", "t_d is in s"]),
    ("limits --set C=1TFLOPS", ["TFLOP/s"]),
    ("limits --set b_0=C*t_d", ["--set b_0=C*t_d", "token", "FLOP"]),
    ("limits --duration 3parsec", ["--duration 3parsec", "unit"]),
    ("limits --duration 3GB", ["--duration 3GB", "t_d is in s"]),
    ("limits --duration months", ["--duration months"]),
    # Values out of their domain
    ("limits --set C=-1e15", ["--set C=-1e15", "positive"]),
    ("limits --set W_mem=0", ["--set W_mem=0", "positive"]),
    ("limits --set tau=0us", ["--set tau=0us", "positive"]),
    ("limits --set b_0=1-1", ["--set b_0=1-1", "positive"]),
    ("limits --set C=nan", ["--set C=nan", "'nan'"]),
    ("limits --set C=inf", ["--set C=inf", "'inf'"]),
    ("limits --set C=-inf", ["--set C=-inf", "'inf'"]),
    ("limits --set C=1/0", ["--set C=1/0", "zero"]),
    ("limits --set C=1e999", ["--set C=1e999", "exponent"]),
    ("limits --duration -3mo", ["--duration -3mo", "positive"]),
    ("limits --duration 0d", ["--duration 0d", "positive"]),
    ("limits --duration nan", ["--duration nan"]),
    ("limits --duration=", ["--duration"]),
    ("limits --set alpha=0.5", ["--set alpha=0.5", "below 1/2"]),
    ("limits --set alpha=1/2", ["--set alpha=1/2", "below 1/2"]),
    ("limits --set alpha=7", ["--set alpha=7", "below 1/2"]),
    ("limits --set alpha=0.4999999", ["--set alpha=0.4999999", "alpha"]),
    ("limits --set alpha=0.49999", ["--set alpha=0.49999", "1/2000 below"]),
    ("limits --set alpha=-1e300", ["--set alpha=-1e300", "between"]),
    ("limits --set alpha_L=1e300", ["--set alpha_L=1e300", "between"]),
    ("limits --set alpha=sqrt(2)/10", ["--set alpha=sqrt(2)/10", "fraction"]),
    ("limits --set alpha=E", ["--set alpha=E", "number"]),
    ("limits --set alpha=alpha_L", ["--set alpha=alpha_L", "number"]),
    ("limits --set E=0.5", ["--set E=0.5", "at least 1"]),
    ("limits --set E=50%", ["--set E=50%", "at least 1"]),
    ("limits --set E=sqrt(2)-1", ["--set E=sqrt(2)-1", "at least 1"]),
    ("limits --set w=E --hardware h100-sxm", ["w", "number"]),
    ("limits --set w=sqrt(2) --hardware h100-sxm", ["w", "number"]),
    ("limits --set b_0=L_0+5", ["--set b_0=L_0+5", "product of powers"]),
    ("limits --set b_0=max(L_0,5)", ["--set b_0=max(L_0,5)", "product of powers"]),
    # What is no parameter
    ("limits --set N_TP=8", ["--set N_TP", "no parameter", "b_0"]),
    ("limits --set T=1e28", ["--set T", "no parameter"]),
    ("limits --set b_0=D", ["--set b_0", "D is no parameter"]),
    ("limits --set E=N_DP", ["--set E", "N_DP is no parameter"]),
    ("limits --set L_0=L", ["--set L_0", "L is no parameter"]),
    ("cliffs --set U=0.5", ["--set U", "no parameter"]),
    # Contradictions
    ("limits --duration 3mo --set t_d=90d", ["--duration", "--set t_d"]),
    ("limits --set t_d=90d --duration 3mo", ["--duration", "--set t_d"]),
    ("limits --set b_0=1e6 --set b_0=2e6", ["b_0 is set twice", "1e6", "2e6"]),
    ("limits --duration 3mo --duration 4mo", ["--duration", "twice"]),
    ("limits --hardware h100-sxm --hardware a100-sxm", ["--hardware", "twice"]),
    ("limits --format json --format text", ["--format", "twice"]),
    ("limits -o x -o y", ["--output", "twice"]),
    ("hardware --format json --format json", ["--format", "twice"]),
    ("limits --set b_0=b_0", ["--set b_0=b_0", "itself"]),
    ("limits --set L_0=2*E --set E=L_0", ["circle"]),
    ("limits --set L_0=E --set E=r_ff --set r_ff=L_0", ["circle"]),
    # Assignments that are none
    ("limits --set b_0", ["'b_0'", "name=value"]),
    ("limits --set =5", ["'=5'", "name=value"]),
    ("limits --set b_0=", ["b_0", "name=value"]),
    ("limits --set b_0==5", ["b_0", "name=value"]),
    ("limits --set b_0<=5", ["b_0", "name=value"]),
    ("limits --set=", ["name=value"]),
    ("limits --set 5=b_0", ["5", "name=value"]),
    ("limits --set b_0=4e6*", ["--set b_0=4e6*"]),
    ("limits --set b_0=(4e6", ["--set b_0=(4e6"]),
    ("limits --set b_0=0x10", ["--set b_0=0x10"]),
    # Levels
    ("limits --level node", ["--level node", "--hardware"]),
    ("limits --hardware h100-sxm --level rack", ["'rack'", "device, node"]),
    ("limits --hardware h100-sxm --level cluster", ["'cluster'", "device, node"]),
    ("limits --hardware h100-sxm-global-nvlink --level node", ["'node'", "--level device"]),
    # Usage
    ("limits --format xml", ["'xml'", "text", "json", "latex", "markdown"]),
    ("limits --format JSON", ["'JSON'", "'json'"]),
    ("limits --hardwar h100-sxm", ["--hardwar", "--hardware"]),
    ("limits --zzz", ["--zzz", "--help"]),
    ("limits -q", ["-q", "--help"]),
    ("limits --set", ["--set", "--help"]),
    ("limits extra", ["extra", "--help"]),
    ("limit", ["'limit'", "limits"]),
    ("zzz", ["'zzz'", "--help"]),
    ("--zzz limits", ["--zzz", "--help"]),
    ("derive", ["name", "--help"]),
    ("derive nanobatch tensor-shard", ["tensor-shard", "--help"]),
    ("symbols W_net", ["W_net", "--help"]),
]


@pytest.mark.parametrize(("command", "named"), REFUSED, ids=[command for command, _ in REFUSED])
def test_bad_input_is_refused_in_one_line(command: str, named: list[str]) -> None:
    line = refusal(*command.split())
    for part in named:
        assert part in line, line


def test_the_same_setting_twice_is_no_contradiction() -> None:
    twice = answer("limits", "--set", "b_0=1e6", "--set", "b_0=1e6")
    assert twice == answer("limits", "--set", "b_0=1e6")


def test_settings_that_grow_when_put_into_one_another() -> None:
    line = refusal(
        "limits", "--set", "b_0=2*L_0^1000", "--set", "L_0=2*E^1000", "--set", "E=2*r_ff^1000"
    )
    assert "--set b_0" in line
    assert "1000" in line


# Files of a user


def machine_file(folder: Path, text: str = MACHINE) -> str:
    path = folder / "bench.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    """T = 27 b_0^2 t_d^2 W_mem^2 W_net^4/(2560 C^4 E L_0^2), by hand from the file's figures."""
    text = " ".join(answer("limits", "--hardware", machine_file(tmp_path)).split())
    C, W_mem, W_net = Fraction(10**15), Fraction(2 * 10**12, 4), Fraction(10**11, 2)
    t_d = Fraction(36525, 400) * 86400
    flop = 27 * (4 * 10**6) ** 2 * t_d**2 * W_mem**2 * W_net**4 / (2560 * C**4 * 100**2)
    mantissa, exponent = f"{float(flop):.4e}".split("e+")
    assert f"Here T = {mantissa}e{exponent} FLOP: data movement rules" in text
    assert "our bench" in text


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (', source = "our bench" }\nmemory_capacity', " }\nmemory_capacity", "source"),
        (' direction = "both",', "", "direction"),
        ('direction = "both"', 'direction = "up"', "'up'"),
        (', condition = "dense, 16 bit"', "", "condition"),
        ('unit = "TB/s"', 'unit = "TB"', "'TB'"),
        ("value = 80", "value = -80", "above zero"),
        ("value = 80", "value = nan", "not a number"),
        ("value = 80", "value = inf", "not a number"),
        ("value = 80", 'value = "__import__(1)"', "not a number"),
        ("memory_capacity =", "memory_capacty =", "memory_capacity"),
        ('title = "Bench"', 'title = "Bench', "TOML"),
        ('title = "Bench"', 'base = "h200"\nreason = "why"', "'h200'"),
        ('title = "Bench"', '[title]\nx = 1', "title"),
        ('name = "cluster"', 'name = "device"', "name"),
        ("[[tier]]", "[tier]", "tier"),
        ('title = "Bench"', 'title = "a\\u001b[31mb"', "title"),
    ],
)  # fmt: skip
def test_a_file_with_a_fault(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert MACHINE.count(old) == 1
    path = machine_file(tmp_path, MACHINE.replace(old, new))
    for command in (("hardware", path), ("limits", "--hardware", path)):
        line = refusal(*command)
        assert "bench.toml" in line
        assert named in line, line


def test_files_that_are_none(tmp_path: Path) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    fifo = tmp_path / "fifo.toml"
    os.mkfifo(fifo)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.toml").write_text("#" + "x\n#" * 200_000)
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 1900)
    for name in ("folder", "fifo", "binary", "large", "empty", "deep", "missing"):
        assert f"{name}.toml" in refusal("hardware", str(tmp_path / f"{name}.toml"))


# Where there is no answer


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("cliffs --hardware h100-sxm --set T=1e40", ["critical batch", "latency", "T"]),
        ("limits --full --hardware h100-sxm --set b_0=1e-6", ["b_0", "critical batch"]),
        ("limits --full --hardware h100-sxm --set tau=1e6", ["tau", "latency"]),
        ("limits --full --hardware h100-sxm --set C=1e30", ["C"]),
    ],
)
def test_infeasible(command: str, named: list[str], tmp_path: Path) -> None:
    line = refusal(*command.split(), "-o", str(tmp_path / "new" / "x.txt"), code=1)
    assert "no point satisfies the constraints" in line
    assert "together: they need" in line
    assert "the constraints the domain" not in line
    for part in named:
        assert part in line, line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", FORMATS)
def test_a_contradiction_shows_by_how_much(form: str) -> None:
    line = refusal("cliffs", "--hardware", "h100-sxm", "--set", "T=1e40", "--format", form, code=1)
    assert "160*E*L_0**2*T*tau**2 <= 3*b_0**2*t_d**2" in line
    # 1e40 over 2.3053e31, the latency wall.
    assert "4.338e+8 times" in line


# Writing files


@pytest.mark.parametrize("form", FORMATS)
def test_output_goes_whole_into_a_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "out.txt"
    printed = answer("derivations", "--format", form)
    assert answer("derivations", "--format", form, "-o", str(path)) == ""
    assert path.read_text(encoding="utf-8") == printed
    assert [p.name for p in path.parent.iterdir()] == ["out.txt"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask()


def umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_the_latex_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer("derive", "nanobatch", "--format", "latex", "-o", "limits.tex") == ""
    assert (tmp_path / "limits.tex").read_text().startswith("\\documentclass")


def test_an_existing_file_is_kept_without_force(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(0o640)
    line = refusal("symbols", "-o", str(path))
    assert "x.txt" in line
    assert "--force" in line
    assert path.read_text() == "old"
    assert answer("symbols", "-o", str(path), "--force") == ""
    assert path.read_text() == answer("symbols")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    answer("symbols", "-o", str(link), "--force")
    assert link.is_symlink()
    assert target.read_text() == answer("symbols")


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    file, fifo = tmp_path / "file", tmp_path / "fifo"
    file.write_text("old")
    os.mkfifo(fifo)
    before = sorted(p.name for p in tmp_path.iterdir())
    for place, named in (
        (tmp_path, "folder"),
        (file / "x.txt", "file"),
        (fifo, "not a file"),
        (tmp_path / ("x" * 300), "too long"),
        (tmp_path / "nul\0byte", "nul"),
    ):
        for force in ((), ("--force",)):
            assert named in refusal("symbols", "-o", str(place), *force)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert file.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == before


@pytest.mark.parametrize("ending", [".html", ".csv", ".svg", ".toml", ".docx", ".PNG"])
def test_an_ending_that_promises_another_format_is_refused(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"a{ending}"
    line = refusal("limits", "-o", str(file))
    assert f"this command writes no {ending.lower()}" in line
    assert not file.exists()
    answer("limits", "-o", str(file), "--format", "text")  # who says so gets it
    assert file.read_text(encoding="utf-8").startswith("Largest training run")


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "--csv", "{}/a.csv", "-o", "{}/b.html"),
        ("limits", "--hardware", "h100-sxm", "--certificate", "{}/p.json", "-o", "{}/b.html"),
        ("cliffs", "--hardware", "h100-sxm", "--certificate", "{}/p.json", "--format", "pdf"),
        ("derive", "tensor-shard", "--bibliography", "{}/r.bib", "-o", "{}/d.csv"),
        ("simulate", "--hardware", "h100-sxm", "--csv", "{}/s.csv", "-o", "{}/s.html"),
    ],
)
def test_a_wrong_ending_leaves_no_other_file(command: tuple[str, ...], tmp_path: Path) -> None:
    refusal(*(word.format(tmp_path) for word in command))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "a.txt", "a.out", "limits-1.5"])
def test_other_names_are_text(name: str, tmp_path: Path) -> None:
    answer("limits", "-o", str(tmp_path / name))
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("Largest training run")


def test_a_folder_without_permission(tmp_path: Path) -> None:
    assert "it is a folder" in refusal("symbols", "-o", str(tmp_path))  # all modules are loaded now
    tmp_path.chmod(0o500)
    root = os.geteuid() == 0
    if root:  # who may write everywhere; nobody may not
        os.seteuid(65534)
    try:
        assert "ermission" in refusal("symbols", "-o", str(tmp_path / "x.txt"))
    finally:
        if root:
            os.seteuid(0)
        tmp_path.chmod(0o700)


def fail_with(error: BaseException) -> Callable[..., NoReturn]:
    def failing(*_: object, **__: object) -> NoReturn:
        raise error

    return failing


@pytest.mark.parametrize("at", ["tempfile.mkstemp", "pathlib.Path.replace", "pathlib.Path.chmod"])
def test_a_failed_write_leaves_the_old_file(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(at, fail_with(full))
    line = refusal("derivations", "-o", str(path), "--force")
    assert "x.txt" in line
    assert "No space left on device" in line
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the text is on the disk when the write fails."""
    written: list[Path] = []

    def half(path: Path, text: str, encoding: str) -> NoReturn:
        path.write_bytes(text[: len(text) // 2].encode(encoding))
        written.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.txt"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.write_text", half)
    for place in (path, tmp_path / "new.txt"):
        refusal("derivations", "-o", str(place), "--force")
    monkeypatch.undo()
    assert len(written) == 2
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", fail_with(KeyboardInterrupt()))
    assert refusal("derivations", "-o", str(path), "--force", code=130) == "symscale: interrupted"
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_a_failing_command_writes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "x.txt")
    refusal("derive", "nothing", "-o", path)
    refusal("limits", "--set", "b_0=-1", "-o", path)
    refusal("limits", "--format", "xml", "-o", path)
    refusal(
        "limits", "--hardware", "h100-sxm", "--set", "C=1e300", "--format", "json", "-o", path,
        code=1,
    )
    assert not list(tmp_path.iterdir())


# Processes


def test_a_closed_pipe_is_no_error() -> None:
    process = start("limits", "--hardware", "h100-sxm")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), error) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "symscale", "derivations"],
            cwd=Path(symscale.__file__).parents[1],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"symscale: standard output: No space left on device; use -o FILE\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_knows_few_characters(encoding: str, tmp_path: Path) -> None:
    title = "Gerät für µs – Ω"
    path = machine_file(tmp_path, MACHINE.replace("Bench", title))
    process = start("hardware", path, PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C")
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")
    escaped = title.encode(encoding, "backslashreplace")
    assert out.startswith((escaped, title.encode()))
    assert answer("hardware", path).startswith(title)


def test_the_program_as_a_process() -> None:
    process = start("limits", "--hardware", "h100-sxm", COLUMNS="80")
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")
    assert out.decode() == answer("limits", "--hardware", "h100-sxm")
    process = start("derive", "nothing")
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    assert error.decode() == refusal("derive", "nothing") + "\n"


@pytest.mark.parametrize("command", ["limits", "cliffs"])
@pytest.mark.parametrize("hardware", [(), ("--hardware", "a100-sxm")])
def test_certificates_of_studies_are_checked(
    command: str, hardware: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "proof.json"
    answer(command, *hardware, "--certificate", str(file))
    assert answer("check", str(file)).splitlines()[-1].startswith("all ")
    assert "the file exists" in refusal(command, *hardware, "--certificate", str(file))


def test_a_duration_without_unit_is_refused() -> None:
    assert "no unit" in refusal("limits", "--duration", "3")
