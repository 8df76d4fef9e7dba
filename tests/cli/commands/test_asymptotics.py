"""The command `asymptotics`: what it answers, and what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import symscale
from bounded import ended_well, limited
from commands import answer, refusal, run
from sampling import examples
from symscale.costs.cost import cost
from symscale.errors import InputError, UnitError
from symscale.language.symbols import symbols
from symscale.studies.comp_vs_comm.growth import (
    MAX_TEXTS,
    ratio_asymptotics,
    read_assumptions,
    read_path,
    read_ratio,
)
from symscale.studies.comp_vs_comm.ratios import named_costs

d, n, N, L, w = symbols("d_model n_ctx N_TP L w")
MEMORY = (
    "edge", "--along", "N_TP=L*d_model^2", "--assume", "n_ctx=O(d_model)", "--in", "d_model,L",
)  # fmt: skip


def data(*arguments: str) -> dict[str, Any]:
    found = json.loads(answer("asymptotics", *arguments, "--format", "json"))
    assert isinstance(found, dict)
    return found


def test_names_are_listed() -> None:
    text = answer("asymptotics")
    assert all(name in text for name in named_costs())
    listed = json.loads(answer("asymptotics", "--format", "json"))["ratios"]
    assert [entry["name"] for entry in listed] == list(named_costs())
    assert "name a ratio" in refusal("asymptotics", "--in", "d_model")


def test_edge_and_slack() -> None:
    assert data("edge")["theta"]["sympy"] == "(d_model + n_ctx)/N_TP"
    assert data("slack")["theta"]["sympy"] == "b/N_DP"


def test_edge_at_constant_memory() -> None:
    found = data(*MEMORY, "--expect", "Theta(1/(L*d_model))")
    assert found["theta"]["sympy"] == "1/(L*d_model)"
    assert found["unit"] == "FLOP/byte"
    assert found["limit"]["kind"] == "zero"
    assert found["in"] == ["d_model", "L"]
    assert found["constant"] == ["w"]
    assert found["expectation"]["holds"] is True
    assert found["assume"][0]["relation"] == "O"


def test_edge_along_a_power() -> None:
    found = data("edge", "--along", "N_TP=d_model^2", "--in", "d_model")
    assert found["leading"]["sympy"] == "18/(d_model*w)"
    (dropped,) = found["pieces"][0]["dropped"]
    assert (dropped["sympy"], dropped["term"]["sympy"]) == ("n_ctx", "1")
    assert dropped["because"] == [{"reason": "d_model grows", "weight": "1"}]


def test_open_exponent() -> None:
    found = data("edge", "--along", "N_TP=d_model^p", "--in", "d_model")
    assert [(x["where"], x["limit"]["kind"]) for x in found["pieces"]] == [
        ("0 <= p < 1", "infinity"), ("p = 1", "constant"), ("p > 1", "zero"),
    ]  # fmt: skip
    assert found["pieces"][1]["limit"]["value"]["sympy"] == "18/w"
    assert found["theta"] is None
    assert found["outside"][0]["where"] == "p < 0"


def test_quotients_of_costs_have_a_unit() -> None:
    found = data("compute/serialized", "--in", "d_model", "--expect", "Omega(1)")
    assert found["unit"] == "FLOP/byte"
    assert found["theta"]["sympy"] == "d_model"
    assert found["expectation"]["holds"] is True
    plain = read_ratio("compute/serialized", named_costs())
    assert sp.simplify(plain.expr / named_costs()["edge"].expr) == 1
    hidden = data("serialized/(serialized + overlapped)", "--in", "b", "--expect", "Theta(1)")
    assert hidden["limit"]["value"]["sympy"] == "1"


@pytest.mark.parametrize("form", ["text", "json", "latex", "markdown"])
@pytest.mark.parametrize(
    "arguments",
    [
        MEMORY,
        ("share", "--along", "N_TP=d_model^p", "--in", "d_model", "--expect", "O(1)"),
        ("share", "--in", "d_model"),
        ("edge", "--expect", "Omega(1/N_TP)"),
        ("edge", "--along", "N_DP=d_model"),
    ],
)
def test_every_format(form: str, arguments: tuple[str, ...]) -> None:
    text = answer("asymptotics", *arguments, "--format", form)
    assert "**" not in text or form in ("json", "markdown")
    if form == "latex":
        assert r"\Theta" in text


def test_text() -> None:
    text = " ".join(answer("asymptotics", *MEMORY, "--expect", "Theta(1/(L*d_model))").split())
    assert "Class: Theta(1/(L d_model)) Limit: 0" in text
    assert "Theta(1/(L d_model)) holds: " in text
    text = " ".join(answer("asymptotics", "share", "--in", "d_model").split())
    assert "Provided that N_TP > 1." in text
    assert "N_DP does not occur in edge" in answer("asymptotics", "edge", "--along", "N_DP=2")


@pytest.mark.parametrize(
    ("expected", "word"),
    [("Omega(1)", "does not hold"), ("Theta(1/L)", "does not hold"), ("omega(1/L)", "not hold")],
)
def test_an_expectation_that_fails_exits_with_1(expected: str, word: str) -> None:
    done = run("asymptotics", *MEMORY, "--expect", expected)
    assert done.code == 1
    assert done.out
    (line,) = done.err.splitlines()
    assert line.startswith(f"symscale: --expect {expected} ")
    assert word in line


def test_an_undetermined_expectation_exits_with_1() -> None:
    done = run("asymptotics", "edge", "--expect", "Omega(1)", "--format", "json")
    assert done.code == 1
    assert "is undetermined" in done.err
    assert "~ t^2" in done.err
    assert json.loads(done.out)["expectation"]["holds"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("edg",), "unknown cost or ratio 'edg'; did you mean edge"),
        (("compute/serialised",), "did you mean serialized"),
        (("compute+serialized",), "adds"),
        (("edge", "--expect", "Omga(1)"), "--expect Omga(1): unknown class 'Omga'; did you mean"),
        (("edge", "--expect", "Omga(1)"), "Omega"),
        (("edge", "--expect", "Tehta(1)"), "did you mean Theta?"),
        (("edge", "--expect", "xyz(1)"), "known: Theta, O, Omega, o, omega"),
        (("edge", "--expect", "Theta"), "write a class such as"),
        (("edge", "--expect", "Theta(d_modle)"), "did you mean d_model"),
        (("edge", "--expect", "Theta(0)"), "is not"),
        (("edge", "--expect", "Theta(-d_model)"), "is not"),
        (("edge", "--in", "d_modl"), "--in d_modl: unknown symbol 'd_modl'; did you mean d_model"),
        (("edge", "--in", "d_model,,L"), "separated by commas"),
        (("edge", "--in", "alpha"), "exponents"),
        (("edge", "--in", "N_TP", "--along", "N_TP=d_model"), "leave it out"),
        (("edge", "--along", "N_TP"), "NAME=MONOMIAL"),
        (("edge", "--along", "N_T=d_model"), "--along N_T=d_model: unknown symbol 'N_T'"),
        (("edge", "--along", "N_TP=d_model+L"), "is a sum"),
        (("edge", "--along", "N_TP=0.5"), "at least 1"),
        (("edge", "--along", "N_TP=d_model", "--along", "N_TP=L"), "given twice"),
        (("edge", "--along", "N_TP=L", "--along", "L=N_TP"), "circle, N_TP <- L <- N_TP"),
        (("edge", "--along", "N_TP=N_TP^2"), "circle, N_TP <- N_TP"),
        (("edge", "--along", "N_TP=d_model^(p^2)"), "exponent"),
        (("edge", "--along", "N_TP=1/d_model", "--in", "d_model"), "is at least 1"),
        (("edge", "--assume", "n_ctx=d_model"), "n_ctx=O(d_model)"),
        (("edge", "--assume", "n_ctx=Oh(d_model)"), "unknown class 'Oh'"),
        (("edge", "--assume", "n_ctx=O(d_model+1)"), "is a sum"),
        (("edge", "--assume", "n_ctxt=O(d_model)"), "did you mean n_ctx"),
        (("edge", "--assume", "n_ctx=O(d_model)", "--assume", "n_ctx=omega(d_model)"),
         "n_ctx=O(d_model); n_ctx=omega(d_model)"),
        (("edge", "--model", "transformr"), "did you mean transformer"),
        (("edge", "--along", "L=d_model^900", "--along", "d_model=n_ctx^900"), "beyond 1000"),
        (("1/(serialized - serialized)",), "zero"),
        (("max(edge, slack)",), "product of powers"),
        (("edge - slack",), "may cancel"),
    ],
)  # fmt: skip
def test_bad_input(arguments: tuple[str, ...], words: str) -> None:
    assert words in refusal("asymptotics", *arguments)


def test_names_with_hyphens() -> None:
    found = data("edge-word/edge", "--expect", "Theta(1)")
    assert found["unit"] == "byte/word"
    assert found["limit"]["value"]["sympy"] == "w/2"
    assert data("serialized-words - overlapped-words", "--in", "b")["unit"] == "word"


def test_every_named_cost_is_a_quotient_of_sums() -> None:
    for name in named_costs():
        found = data(name)
        assert found["theta"] is not None
        assert found["unit"] == str(named_costs()[name].unit)


def test_models_have_numbers_for_sizes() -> None:
    assert data("edge", "--model", "gpt-3")["theta"]["sympy"] == "1/N_TP"


def test_the_library_takes_any_costs() -> None:
    costs = {"tokens": cost(n * L, "token"), "words": cost(d * w, "word")}
    found = ratio_asymptotics("tokens/words", costs, growing="n_ctx")
    assert str(found.cost.unit) == "token/word"
    assert found.asymptotics.pieces[0].theta == n
    assert found.constants == (L, d, w)
    with pytest.raises(UnitError):
        ratio_asymptotics("tokens + words", costs)
    by_symbol = read_ratio("words/w", costs)
    assert by_symbol.expr == d
    assert by_symbol.unit == costs["words"].unit / read_ratio("w", costs).unit


def test_paths_are_put_into_one_another() -> None:
    found = ratio_asymptotics(
        "edge", named_costs(), along=["N_TP=L*d_model", "L=d_model^2"], growing="d_model"
    )
    assert found.asymptotics.pieces[0].theta == d**-2
    assert str(found.path[N]) == "L*d_model"


def test_greek_class_names_are_read() -> None:
    (one,) = read_assumptions(["n_ctx = Θ(d_model)"])
    assert one.relation == "Theta"


def test_many_texts_are_refused() -> None:
    with pytest.raises(InputError, match="at most"):
        read_assumptions(f"n_ctx=O({k}*d_model)" for k in range(1, MAX_TEXTS + 2))
    with pytest.raises(InputError, match="characters"):
        read_path(["N_TP=" + "1" * 10_000])


PROBE = """
import io, resource, signal, sys
from contextlib import redirect_stderr, redirect_stdout
from symscale.cli import main
import symscale.pages.of.asymptotics, symscale.studies.comp_vs_comm.growth

def stop(*_):
    raise SystemExit("too slow")

signal.signal(signal.SIGPROF, stop)
for arguments in eval(sys.stdin.read()):
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["symscale", *arguments]
    signal.setitimer(signal.ITIMER_PROF, 10)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as exit:
        code = exit.code
    signal.setitimer(signal.ITIMER_PROF, 0)
    lines = err.getvalue().splitlines()
    if code not in (0, 1, 2) or len(lines) > 1 or len(out.getvalue()) > 10**6:
        print(ascii(arguments)[:100], code, len(out.getvalue()), ascii(err.getvalue())[-300:])
print("MiB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
ALL = (
    "d_model,d_ff,L,E,n_ctx,n_heads,n_kv,d_head,n_vocab,E_k,b,n_seq,D,N,N_DP,N_TP,N_PP,N_EP,"
    "N_CP,m,v,C,W_net,w"
)


def test_expensive_texts_end_soon() -> None:
    chain = ("N_TP=2*d_model^1000", "d_model=2*L^1000", "L=2*n_ctx^1000", "n_ctx=2*b^1000")
    commands: list[tuple[str, ...]] = [
        ("asymptotics", ratio)
        for ratio in (
            "edge^1000", "(1+edge/edge)^1000", "1+share^1000", "(share+1)^300+1", "9**9**9**9",
            "+".join(f"share^{k}" for k in range(40)),
            "*".join(f"(b+D*{k}+N*L^{k})" for k in range(1, 60)),
            "1+" + "*".join(f"(b+D*{k}+N*L^{k})" for k in range(1, 60)),
            "+".join(f"b^{k}*D^{60 - k}" for k in range(60)),
            "+".join(f"b^{k}*L^{(k * 7) % 90}*D^{90 - k}" for k in range(58)),
            "(" * 90 + "share" + ")" * 90, "1/(1+" * 60 + "share" + ")" * 60, "x" * 5000,
        )
    ]  # fmt: skip
    commands += [("asymptotics", "share", "--in", ALL), ("asymptotics", ALL.replace(",", "+"))]
    commands += [("asymptotics", "edge", "--expect", f"O({text})") for text in (
        "+".join(f"b^{k}*D^{60 - k}" for k in range(60)),
        "+".join(f"b^{k}*d_model^{(k * 7) % 90}*D^{90 - k}" for k in range(58)),
        "(d_model+n_ctx)^1000", "9^9^9^9", "d_model^(1/999983)",
    )]  # fmt: skip
    commands.append(
        ("asymptotics", "edge", *(part for text in chain for part in ("--along", text)))
    )
    commands.append((
        "asymptotics", "+".join(f"b^{k}*L^{(k * 7) % 40}*D^{40 - k}*N_TP" for k in range(30)),
        "--along", "N_TP=d_model^p",
    ))  # fmt: skip
    commands.append(("asymptotics", "share", "--along", "N_TP=d_model^p*L^p*n_ctx^(2*p)"))
    commands.append((
        "asymptotics", "edge", *(
            part for k in range(1, 40) for part in ("--assume", f"n_ctx^{k}=O(d_model^{k + 1})")
        ),
    ))  # fmt: skip
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


TEXTS = st.one_of(
    st.text(max_size=15),
    st.text(alphabet="NTP_dmodelL=O()^p*/+-12, ", max_size=25),
    st.sampled_from(["N_TP=d_model^p", "n_ctx=o(d_model)", "Theta(1)", "d_model", "L,n_ctx"]),
)


@examples(30, HealthCheck.function_scoped_fixture)
@given(
    ratio=st.one_of(st.sampled_from(["edge", "share", "compute/serialized"]), TEXTS),
    rest=st.lists(
        st.tuples(st.sampled_from(["--along", "--assume", "--in", "--expect"]), TEXTS), max_size=3
    ),
)
def test_any_arguments(ratio: str, rest: list[tuple[str, str]]) -> None:
    done = run("asymptotics", ratio, *(part for pair in rest for part in pair))
    if done.code == 1 and done.out:
        assert "--expect" in done.err
        return
    ended_well(done)
