"""Commands, called within the process, with streams of their own."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from symscale.cli import main

FORMATS = ("text", "json", "latex", "markdown")

ANSWERS = (
    ("limits",),
    ("limits", "--hardware", "h100-sxm"),
    ("limits", "--hardware", "h100-sxm", "--full"),
    ("cliffs",),
    ("cliffs", "--hardware", "h100-sxm"),
    ("cliffs", "--hardware", "h100-sxm", "--set", "T=1e29"),
    ("hardware",),
    ("hardware", "h100-sxm"),
    ("hardware", "mi300x"),
    ("hardware", "--generations"),
    ("symbols",),
    ("derivations",),
    ("derive", "tensor-shard"),
    ("asymptotics",),
    ("asymptotics", "edge", "--along", "N_TP=d_model^p", "--in", "d_model"),
)


class Terminal(io.StringIO):
    """A stream that says it is a terminal, so that nothing is filtered on the way to it."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


def run(*arguments: str) -> Done:
    """Run the program within this process."""
    out, err, before = Terminal(), Terminal(), sys.argv
    sys.argv = ["symscale", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as exit_:
            main()
    finally:
        sys.argv = before
    assert isinstance(exit_.value.code, int)
    return Done(exit_.value.code, out.getvalue(), err.getvalue())


def answer(*arguments: str) -> str:
    """What a command that succeeds prints."""
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    return done.out


def refusal(*arguments: str, code: int = 2) -> str:
    """The one line with which a command fails, after checking that it is one."""
    done = run(*arguments)
    assert (done.code, done.out) == (code, ""), done
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err
    assert done.err == lines[0] + "\n"
    assert lines[0].startswith("symscale: ")
    assert lines[0].isprintable(), ascii(lines[0])
    assert len(lines[0]) <= 1100
    return lines[0]

MACHINE = """title = "Bench"
flop_rate = { value = 1000, unit = "TFLOP/s", condition = "dense, 16 bit", source = "our bench" }
memory_bandwidth = { value = 2, unit = "TB/s", direction = "both", source = "our bench" }
memory_capacity = { value = 80, unit = "GB", source = "our bench" }
product_latency = { value = 4, unit = "us", source = "our bench" }
[[tier]]
name = "cluster"
bandwidth = { value = 100, unit = "GB/s", direction = "one-way", source = "our bench" }
latency = { value = 1, unit = "us", source = "our bench" }
"""
