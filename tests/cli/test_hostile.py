"""What a hostile user types: refused in one line, soon, in little memory, and never executed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import symscale
from bounded import ended_well, limited
from commands import ANSWERS, answer, refusal, run
from sampling import examples

ESCAPES = ("\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\x08b", "\x9b2J", "\u202eabc", "\x7f")
EXECUTED = (
    "__import__('os').system('touch X')",
    "__import__('pathlib').Path('X').touch()",
    "eval('1')",
    "exec('import os')",
    "().__class__.__bases__[0].__subclasses__()",
    "C.__class__",
    "C.evalf()",
    "C.subs",
    "(lambda: 1)()",
    "lambda x: x",
    "[open('X', 'w') for i in (1,)]",
    "{1: 2}[1]",
    "(x:=5)",
    "f'{1}'",
    "print(1)",
    "C if C else E",
    "C and E",
    "not C",
    "*C",
    "`touch X`",
    "$(touch X)",
    "os.system('touch X')",
    "C; import os",
    "C\nimport os",
    "#",
    "'1'",
    '"1"',
    "b'1'",
    "...",
    "C[0]",
    "C@E",
    "C//E",
    "C%E",
    "C<<E",
    "C|E",
    "~C",
    "C<E",
    "yield",
    "await C",
    "None",
    "True",
    "1j",
    "1e5j",
    "oo",
    "zoo",
    "pi",
    "exp(1)",
    "sin(1)",
    "Symbol(C)",
    "sqrt",
    "sqrt()",
    "sqrt(1,2)",
    "max()",
    "max(C)",
    "sqrt(x=1)",
    "sqrt(*C)",
)
EXPENSIVE = (
    "9**9**9**9",
    "9^9^9^9",
    "((9^999)^999)^999",
    "2^(10^9)",
    "(1e300)^1000",
    "1e999",
    "1e-999",
    "1e999999999999",
    "9" * 5000,
    "1/" + "9" * 5000,
    "0." + "1" * 5000,
    "(" * 100_000,
    "(" * 100_000 + "1" + ")" * 100_000,
    "[" * 5000,
    "-" * 5000 + "1",
    "-1" * 2499 + "-1e9",
    "2" + "*2" * 4999,
    "C" + "^C" * 90,
    "2" + "^2" * 90,
    "sqrt(" * 95 + "2" + ")" * 95 + "-1e9",
    "sqrt(" * 5 + "9" * 90 + ")" * 5 + "-1e9",
    "(" * 95 + "C" + "+1)^2" * 95,
    "max(" + ",".join(f"C+{k}" for k in range(900)) + ")",
    "+".join(f"sqrt({p})" for p in range(2, 400)) + "-1e9",
    "x" * 9000,
    "x" * 1_000_000,
    "1" * 9999 + "x",
    " " * 9000,
    "C" + " " * 9000 + "C",
    "(C+E)^1000",
    "(C+E)^(1/1000)",
    "0^0^0-1e9",
    "0^-1",
    "(-1)^(1/2)",
    "(1-1)/(1-1)",
    "1/3/0",
    "1e300*1e300*1e300*1e300*1e300*1e300",
)
STRANGE = (
    "\0",
    "C\0",
    "１",
    "٣",
    "Ⅷ",
    "½",
    "²",
    "τ",
    "С",  # a Cyrillic letter
    "C\u200b",
    "\ufeff1",
    "💥",
    "1,000",
    "1'000",
    "1 000",
    "++",
    "1e",
    "e5",
    ".",
    "1..2",
    "0x10",
    "0b1",
    "1_",
    "_",
    "__",
    "\udcff",
)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def line_of(*arguments: str) -> str:
    """The line of a refusal, after checking that nothing was written here."""
    line = refusal(*arguments)
    assert not list(Path.cwd().iterdir())
    return line


@pytest.mark.parametrize("text", EXECUTED)
def test_nothing_is_executed(text: str) -> None:
    for name in ("C", "b_0", "alpha"):
        assert f"--set {name}=" in line_of("limits", "--set", f"{name}={text}")
    line_of("limits", "--set", text)
    line_of("limits", "--set", f"{text}=1")
    line_of("limits", "--duration", text)
    line_of("limits", "--hardware", text)
    line_of("derive", text)


@pytest.mark.parametrize("text", STRANGE)
def test_strange_characters(text: str) -> None:
    line_of("limits", "--set", f"C={text}")
    line_of("limits", "--set", f"{text}=1")
    line_of("limits", "--duration", text)
    line_of("limits", "--hardware", text)
    line_of("limits", "--hardware", "h100-sxm", "--level", text)
    line_of("limits", f"--format={text}")
    line_of("derive", f"x{text}")
    line_of(f"x{text}")


@pytest.mark.parametrize("text", ESCAPES)
def test_escape_sequences_never_reach_the_terminal(text: str) -> None:
    """`refusal` checks that the line is printable, on a stream that says it is a terminal."""
    for arguments in (
        ("limits", "--set", f"C={text}"),
        ("limits", "--set", f"{text}=1"),
        ("limits", "--set", text),
        ("limits", "--set", "C=1", "--set", f"C={text}"),
        ("limits", "--set", f"C=1{text}"),
        ("limits", "--set", f"C=4e6*{text}"),
        ("limits", "--set", f"alpha={text}"),
        ("limits", "--duration", text),
        ("limits", "--duration", f"3{text}"),
        ("limits", "--hardware", text),
        ("limits", "--hardware", f"{text}.toml"),
        ("limits", "--hardware", f"./{text}/x"),
        ("limits", "--level", text),
        ("limits", "--hardware", "h100-sxm", "--level", text),
        ("limits", "--format", text),
        ("limits", text),
        ("limits", f"--{text}"),
        ("limits", f"-{text}"),
        ("hardware", text),
        ("derive", text),
        (text,),
        (f"--{text}",),
        ("symbols", "-o", f"./{text}/" + "x" * 300),
    ):
        line_of(*arguments)


def test_escape_sequences_in_a_file(tmp_path: Path) -> None:
    for key in ("title", "reason", "base", "\x1b[31m", "flop_rate"):
        path = tmp_path / "x.toml"
        path.write_text(f'"{key}" = "a\\u001b[31mb"\n')
        refusal("hardware", str(path))
        path.write_text(f"{key} = \x1b[31m")
        refusal("hardware", str(path))


def test_a_name_of_a_file_with_escape_sequences(tmp_path: Path) -> None:
    place = tmp_path / "\x1b[31mred.txt"
    assert answer("derivations", "-o", str(place)) == ""
    assert r"\x1b[31mred.txt" in refusal("derivations", "-o", str(place))


def test_long_arguments_give_short_lines() -> None:
    long = "x" * 100_000
    for arguments in (
        ("limits", "--set", f"{long}=1"),
        ("limits", "--set", f"C={long}"),
        ("limits", "--set", "C=1", "--set", f"C={long}"),
        ("limits", "--hardware", long),
        ("limits", "--hardware", f"{long}.toml"),
        ("limits", "--level", long),
        ("limits", "--format", long),
        ("limits", f"--{long}"),
        ("limits", long),
        ("limits", "-o", long),
        ("derive", long),
        (long,),
    ):
        assert len(line_of(*arguments)) < 1100


def test_many_arguments() -> None:
    many = [part for k in range(3000) for part in ("--set", f"b_0={k + 1}")]
    assert "b_0 is set twice" in line_of("limits", *many)
    same = [part for _ in range(3000) for part in ("--set", "b_0=1e6")]
    assert answer("limits", *same) == answer("limits", "--set", "b_0=1e6")


def test_paths_that_lead_elsewhere() -> None:
    for name in ("../derivations/nanobatch", "/etc/passwd", "nanobatch.py", "nanobatch/", ".", ""):
        assert "unknown derivation" in line_of("derive", name)
    for name in ("../hardware/h100-sxm", "/etc/passwd", ".", "", "..", "h100-sxm/"):
        line_of("hardware", name)
    for name in ("/etc/passwd.toml", "/dev/zero.toml", "~/x.toml"):
        assert ".toml" in line_of("hardware", name)


# Time and memory: in a process of its own, under limits of the system

PROBE = """
import io, resource, signal, sys
from contextlib import redirect_stderr, redirect_stdout
from symscale.cli import main
import symscale.pages.of.limits
import symscale.studies.training.answer, symscale.studies.requests.parameters

def stop(*_):
    raise SystemExit("too slow")

signal.signal(signal.SIGPROF, stop)
for arguments in eval(sys.stdin.read()):
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["symscale", *arguments]
    signal.setitimer(signal.ITIMER_PROF, 2)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as exit:
        code = exit.code
    signal.setitimer(signal.ITIMER_PROF, 0)
    lines = err.getvalue().splitlines()
    if code != 2 or out.getvalue() or len(lines) != 1 or len(lines[0]) > 1100:
        print(ascii(arguments)[:100], code, len(out.getvalue()), ascii(err.getvalue())[-300:])
print("MiB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_expensive_texts_cost_little() -> None:
    """Two seconds of the processor for each is far above what a refusal takes: milliseconds."""
    names = ("b_0", "E", "alpha")
    commands: list[tuple[str, ...]]
    commands = [("limits", "--set", f"{name}={t}") for t in EXPENSIVE for name in names]
    commands += [("limits", "--duration", t) for t in EXPENSIVE]
    commands += [("limits", "--set", t) for t in EXPENSIVE]
    commands += [("limits", "--hardware", t[:5000]) for t in EXPENSIVE]
    # Each is within the limits of the grammar, but not put into one another, or as an exponent.
    commands += [
        ("limits", "--set", "b_0=2*L_0^1000", "--set", "L_0=2*E^1000", "--set", "E=2*r_ff^1000"),
        ("limits", "--set", "b_0=L_0^1000", "--set", "L_0=E^1000"),
        ("limits", "--set", "b_0=1e300*L_0^5", "--set", "L_0=1e300*E^5", "--set", "E=1e300*r_ff^9"),
        ("limits", "--set", "alpha=0.12345678"),
        ("limits", "--set", "alpha=1e-300"),
        ("limits", "--set", "alpha=-1e300"),
        ("limits", "--set", "alpha=0.499999999999"),
        ("limits", "--set", f"alpha=0.{'1234567890' * 9}"),
        ("limits", "--set", "alpha_L=1e300"),
        ("limits", "--set", "alpha_L=1/999999999989"),
        ("limits", "--full", "--set", "alpha=0.12345678"),
        ("cliffs", "--set", "alpha=0.12345678"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        input=repr(commands),
        cwd=Path(symscale.__file__).parents[1],
        env={**os.environ, "PYTHONUTF8": "1"},
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    *faults, last = done.stdout.splitlines()
    assert not faults, "\n".join(faults)
    assert int(last.removeprefix("MiB ")) < 400


def test_long_sums_that_are_fine() -> None:
    """Five thousand numbers are within the limits, and are added up."""
    text = answer("limits", "--set", "b_0=1" + "+1" * 2499)
    assert "2500 token" in " ".join(text.split())


# Whatever is typed


VALUES = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="0123456789.eE+-*/^()sqrtmax,_ CLbTalph", max_size=25),
    st.builds(
        "{}{}".format,
        st.one_of(st.integers(), st.floats(), st.fractions()),
        st.sampled_from(["", "s", "GB/s", "FLOP/s", "%", "token", "*sqrt(E)", "*E^2/L_0", "d"]),
    ),
)


@examples(30, HealthCheck.function_scoped_fixture)
@given(
    name=st.one_of(st.sampled_from(["C", "b_0", "E", "alpha", "T", "w"]), st.text(max_size=5)),
    value=VALUES,
    command=st.sampled_from(["limits", "cliffs"]),
    rest=st.sampled_from([(), ("--hardware", "h100-sxm"), ("--format", "json")]),
)
def test_any_setting(name: str, value: str, command: str, rest: tuple[str, ...]) -> None:
    ended_well(run(command, "--set", f"{name}={value}", *rest))


@examples(30, HealthCheck.function_scoped_fixture)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["limits", "cliffs", "derive", "hardware", "symbols", "derivations", "--hardware",
                 "h100-sxm", "--level", "device", "--set", "C=1", "--format", "json", "--force",
                 "--full", "--", "-", "=", "--duration", "3mo", "nanobatch"]
            ),
            st.text(max_size=8),
        ),
        min_size=1,
        max_size=6,
    )
)  # fmt: skip
def test_any_arguments(arguments: list[str]) -> None:
    done = run(*arguments)
    if done.code == 2 and done.err.startswith("Usage: "):
        return  # the help, where no command is named
    ended_well(done)


MAGNITUDES = ["1e300", "1e-300", "1", "12345678901234567890", "1/3", "7.25e17"]


@pytest.mark.parametrize("name", ["C", "W_net", "W_mem", "tau", "b_0", "L_0", "T_0", "E", "r_D"])
def test_absurd_magnitudes(name: str) -> None:
    """An answer, or no answer: but never a number that is none."""
    for value in MAGNITUDES:
        if name == "E" and value in ("1e-300", "1/3"):
            continue
        for command, form in (("limits", "text"), ("limits", "json"), ("cliffs", "text")):
            done = run(
                command, "--hardware", "h100-sxm", "--set", f"{name}={value}", "--format", form
            )
            ended_well(done)
            assert done.code in (0, 1)
            for word in ("inf", "nan", "NaN", "Infinity", "zoo"):
                assert word not in done.out.split()


@pytest.mark.parametrize("alpha", ["0.4995", "0.123457", "-1000", "-0.4995", "0.3271", "1/3"])
def test_awkward_exponents(alpha: str) -> None:
    """Numbers whose powers would fill pages are printed as powers."""
    for command in ("limits", "cliffs"):
        for form in ("text", "json", "latex"):
            text = answer(command, "--set", f"alpha={alpha}", "--format", form)
            rows = [row for row in text.splitlines() if '"sentence": ' not in row]  # one line
            assert max(len(row) for row in rows) < 4000


def test_answers_do_not_depend_on_the_folder_or_the_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for columns in ("1", "57", "500", "x"):
        monkeypatch.setenv("COLUMNS", columns)
        for arguments in ANSWERS:
            if "--full" not in arguments:
                assert answer(*arguments)
