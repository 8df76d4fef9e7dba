"""JSON: its keys and numbers, and formulas that give them to whoever evaluates them.

The evaluator here knows nothing of the package: it walks Python's own syntax tree of
the `sympy` texts with decimals of 60 digits.
"""

import json
import math
import tomllib
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import symscale
from commands import answer, refusal
from json_formulas import evaluated, ratio, sides
from places import ROOT
from symscale.derivation.library import derivation_names
from symscale.facts.machines.lumped import machine_names
from symscale.language.symbols import NOTATION

PRESETS = ROOT / "symscale/facts/machines/presets"
THREE_MONTHS_S = Fraction(36525, 400) * 86400


def no_constant(name: str) -> float:
    raise AssertionError(f"JSON has no {name}")


def no_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def loaded(*arguments: str) -> Any:
    """What a command prints with --format json, read by strict rules."""
    text = answer(*arguments, "--format", "json")
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_repetition)


# The evaluator


def exact(text: str) -> Decimal:
    """A rational that is given as text, such as `-1/4`."""
    number = Fraction(text)
    with localcontext(Context(prec=60)):
        return Decimal(number.numerator) / number.denominator


def close(value: Decimal | float, expected: Decimal | float, tolerance: str = "1e-9") -> bool:
    a, b = Decimal(value), Decimal(expected)
    return abs(a - b) <= Decimal(tolerance) * abs(b)


def parameters_of(data: Any) -> dict[str, Decimal]:
    """The values of the parameters; those that are expressions are evaluated."""
    numbers = {p["name"]: p["value"] for p in data["parameters"] if p["value"] is not None}
    values = {name: Decimal(repr(value)) for name, value in numbers.items()}
    pending = {p["name"]: p["expression"] for p in data["parameters"] if p["expression"]}
    while pending:
        before = len(pending)
        for name, text in list(pending.items()):
            try:
                values[name] = evaluated(text, values)
            except KeyError:
                continue
            del pending[name]
        assert len(pending) < before
    return values


# limits

LIMITS = [
    "--hardware h100-sxm",
    "--hardware a100-sxm --level device",
    "--hardware v100-sxm --set alpha=0.2",
    "--hardware a100-sxm --set b_0=8e6 --set alpha=0.05 --duration 3mo",
    "--hardware h100-sxm --set alpha=-0.25 --set alpha_L=1/3 --set E=8",
    "--hardware h100-sxm --set alpha=0.3271 --set tau=1ms",
    "--hardware h100-sxm --set b_0=4e6*sqrt(E) --set E=64",
    "--hardware h100-sxm --set w=1 --set W_net=25GB/s --set r_D=200 --set r_ff=8/3",
    "--hardware h100-sxm-infinite-network-and-ll",
    "--hardware h100-sxm-superpod --level superpod",
    "--set C=1e15 --set W_mem=1e12 --set W_net=1e10 --set tau=1s",
    "--hardware h100-sxm --full",
    "--hardware h100-sxm --full --set alpha=0.2 --set tau=1ms",
    "--hardware a100-sxm --full --set L_0=3 --set W_mem=1e16 --level device",
]


@pytest.fixture(scope="module", params=LIMITS)
def limits(request: pytest.FixtureRequest) -> Any:
    return loaded("limits", *request.param.split())


def test_keys_of_limits(limits: Any) -> None:
    assert {
        "problem", "objective", "parameters", "pieces", "limit", "constraints", "symscale_version"
    } <= set(limits)
    assert limits["symscale_version"] == symscale.__version__
    assert limits["problem"] in ("training-limits", "training-limits-full")
    assert limits["objective"]["symbol"] == "T"
    assert limits["objective"]["sense"] == "maximize"
    assert limits["objective"]["unit"] == "FLOP"
    for p in limits["parameters"]:
        assert {"name", "value", "unit", "source"} <= set(p)
        assert p["unit"] == NOTATION[p["name"]].unit
        assert p["source"]
        assert p["value"] is None or isinstance(p["value"], float)
        assert (p["value"] is None) == (p["expression"] is not None or p["unlimited"])
    names = {p["name"] for p in limits["parameters"]}
    constraints = {c["name"] for c in limits["constraints"]}
    for piece in limits["pieces"]:
        assert {
            "name", "latex", "sympy", "value", "unit", "binding", "multipliers", "elasticities",
            "region", "rules",
        } <= set(piece)
        assert isinstance(piece["value"], float)
        assert isinstance(piece["rules"], bool)
        assert piece["unit"] == "FLOP"
        assert set(piece["binding"]) <= set(piece["multipliers"]) <= constraints
        assert set(piece["elasticities"]) <= names
        for name, text in piece["elasticities"].items():
            number = piece["elasticity_values"][name]
            assert number is None or number == float(Fraction(text))
        for text in [*piece["multipliers"].values(), *piece["elasticities"].values()]:
            assert isinstance(text, str)
            assert str(Fraction(text)) == text
            assert Fraction(text) != 0


def test_the_least_piece_rules(limits: Any) -> None:
    (ruling,) = [p for p in limits["pieces"] if p["rules"]]
    assert limits["limit"]["piece"] == ruling["name"]
    assert limits["limit"]["value"] == ruling["value"] == min(p["value"] for p in limits["pieces"])


def test_formulas_give_the_values(limits: Any) -> None:
    values = parameters_of(limits)
    for piece in limits["pieces"]:
        assert close(evaluated(piece["sympy"], values), piece["value"])
    assert close(evaluated(limits["limit"]["sympy"], values), limits["limit"]["value"])


def test_regions_tell_which_piece_rules(limits: Any) -> None:
    values = parameters_of(limits)
    for piece in limits["pieces"]:
        holds = {ratio(c["sympy"], values) <= 1 for c in piece["region"]}
        assert (False not in holds) == piece["rules"]
        for condition in piece["region"]:
            other = condition.get("otherwise")
            if other is not None:
                (against,) = [p for p in limits["pieces"] if p["name"] == other]
                assert (ratio(condition["sympy"], values) <= 1) == (
                    piece["value"] <= against["value"]
                )
    for condition in limits["feasibility"]:
        assert ratio(condition["sympy"], values) <= 1


def test_elasticities_are_what_a_change_does(limits: Any) -> None:
    """A parameter times 1.37 changes the piece by 1.37 to the power of the elasticity."""
    values, factor = parameters_of(limits), Decimal("1.37")
    exponents = {"alpha", "alpha_L"}
    for piece in limits["pieces"]:
        base = evaluated(piece["sympy"], values)
        for name in values:
            changed = evaluated(piece["sympy"], {**values, name: values[name] * factor})
            elasticity = exact(piece["elasticities"].get(name, "0"))
            if name not in exponents:
                assert close(changed / base, factor**elasticity, "1e-20"), name


def test_multipliers_prove_the_bound(limits: Any) -> None:
    """The constraints, raised to their multipliers, multiply to objective/bound: at any point."""
    rng = Random(7)
    variables = [*limits["point"]]
    values = parameters_of(limits)
    for piece in limits["pieces"]:
        for _ in range(3):
            point = {x: Decimal(repr(rng.uniform(0.1, 9))) for x in variables}
            at = {**values, **point}
            with localcontext(Context(prec=60, Emax=10**9, Emin=-(10**9))):
                product = Decimal(1)
                for constraint in limits["constraints"]:
                    weight = exact(piece["multipliers"].get(constraint["name"], "0"))
                    product *= ratio(constraint["sympy"], at) ** weight
                claimed = at["T"] / evaluated(piece["sympy"], at)
            assert close(product, claimed, "1e-40")
        for constraint in limits["constraints"]:
            multiplier = Fraction(piece["multipliers"].get(constraint["name"], "0"))
            inequality = sides(constraint["sympy"])[1] == "<="
            assert multiplier >= 0 or not inequality
            assert (constraint["name"] in piece["binding"]) == (inequality and multiplier != 0)


def test_the_run_at_the_limit_satisfies_every_constraint(limits: Any) -> None:
    (ruling,) = [p for p in limits["pieces"] if p["rules"]]
    values = parameters_of(limits)
    point = {x: Decimal(repr(entry["value"])) for x, entry in limits["point"].items()}
    assert close(point["T"], limits["limit"]["value"])
    for x, entry in limits["point"].items():
        assert close(evaluated(entry["sympy"], values), entry["value"])
        assert entry["unit"] == NOTATION[x].unit
    for constraint in limits["constraints"]:
        slack = ratio(constraint["sympy"], {**values, **point})
        tight = sides(constraint["sympy"])[1] == "==" or constraint["name"] in ruling["binding"]
        assert close(slack, 1) if tight else slack <= 1 + Decimal("1e-9"), constraint["name"]


def test_full_is_never_above_the_reduced_study(limits: Any) -> None:
    if limits["problem"] == "training-limits-full":
        reduced = limits["reduced_limit"]
        assert limits["limit"]["value"] <= reduced["value"] * (1 + 1e-9)
        same = math.isclose(limits["limit"]["value"], reduced["value"], rel_tol=1e-9)
        assert same == (not limits["bounds_that_make_the_difference"])


# Published numbers


@pytest.mark.parametrize(
    ("device", "flop", "grown"),
    [
        ("v100-sxm", 1.3048134837787206e27, "2.19e+29"),
        ("a100-sxm", 2.6218103967469373e28, "3.25e+31"),
        ("h100-sxm", 1.9240657255503606e28, "1.94e+31"),
    ],
)
def test_published_limits(device: str, flop: float, grown: str) -> None:
    data = loaded("limits", "--hardware", device)
    assert data["level"] == "node"
    pieces = {p["name"]: p["value"] for p in data["pieces"]}
    assert math.isclose(pieces["data movement"], flop, rel_tol=1e-9)
    assert f"{pieces['latency wall']:.3e}" == "2.305e+31"
    assert data["limit"] == data["limit"] | {"value": pieces["data movement"], "unit": "FLOP"}
    later = loaded("limits", "--hardware", device, "--set", "alpha=0.2")
    (movement,) = [p["value"] for p in later["pieces"] if p["name"] == "data movement"]
    assert f"{movement:.2e}" == grown


def test_the_default_assumptions() -> None:
    data = loaded("limits", "--hardware", "h100-sxm")
    values = {p["name"]: p["value"] for p in data["parameters"]}
    assert values == values | {
        "alpha": 0.0, "alpha_L": 0.0, "E": 1.0, "b_0": 4e6, "L_0": 100.0, "T_0": 6e23, "tau": 9e-6,
        "t_d": float(THREE_MONTHS_S), "w": 2.0,
    }  # fmt: skip
    assert float(THREE_MONTHS_S) == 7889400.0


@pytest.mark.parametrize("level", ["device", "node"])
@pytest.mark.parametrize("device", ["v100-sxm", "a100-sxm", "h100-pcie", "h100-sxm"])
def test_from_the_figures_of_the_file(device: str, level: str) -> None:
    """The formula by hand, from the figures as the file prints them."""
    file = tomllib.loads((PRESETS / f"{device}.toml").read_text(encoding="utf-8"))
    name = file.get("base")
    if name is not None:
        file = tomllib.loads((PRESETS / f"{name}.toml").read_text(encoding="utf-8")) | file
    flop, threads, count, clock, memory = (
        Fraction(str(file[key]["value"]))
        for key in (
            "flop_per_clock_per_thread", "threads_per_multiprocessor", "multiprocessors", "clock",
            "memory_bandwidth",
        )
    )
    node, cluster = file["tier"]
    assert file["memory_bandwidth"]["direction"] == cluster["bandwidth"]["direction"] == "both"
    devices = node["size"] if level == "node" else 1
    C = devices * flop * threads * count * clock * 10**6
    W_mem = devices * memory * 10**9 / 4
    W_net = devices * Fraction(str(cluster["bandwidth"]["value"])) * 10**9 / 4
    t_d, b_0, L_0 = THREE_MONTHS_S, 4 * 10**6, 100
    T = 27 * b_0**2 * t_d**2 * W_mem**2 * W_net**4 / (2560 * C**4 * L_0**2)
    data = loaded("limits", "--hardware", device, "--level", level)
    values = {p["name"]: p["value"] for p in data["parameters"]}
    for name, value in (("C", C), ("W_mem", W_mem), ("W_net", W_net)):
        assert math.isclose(values[name], value, rel_tol=1e-12)
    assert data["limit"]["piece"] == "data movement"
    assert math.isclose(data["limit"]["value"], T, rel_tol=1e-12)


def test_sparsity_cancels_where_the_batch_grows_with_its_root() -> None:
    dense = loaded("limits", "--hardware", "h100-sxm")
    many = ("limits", "--hardware", "h100-sxm", "--set", "E=256")
    sparse = loaded(*many, "--set", "b_0=4e6*sqrt(E)")
    for data in (dense, sparse):
        assert data["limit"]["piece"] == "data movement"
    assert math.isclose(sparse["limit"]["value"], dense["limit"]["value"], rel_tol=1e-12)
    (b_0,) = [p for p in sparse["parameters"] if p["name"] == "b_0"]
    assert (b_0["value"], b_0["expression"]) == (None, "4000000*sqrt(E)")
    alone = loaded(*many)
    assert math.isclose(alone["limit"]["value"] * 256, dense["limit"]["value"], rel_tol=1e-12)


def test_durations_and_units() -> None:
    """T grows with the square of the time; a bandwidth in bytes is one in words of 2 byte."""
    base = loaded("limits", "--hardware", "h100-sxm")["limit"]["value"]
    for options in (["--duration", "3mo"], ["--set", "t_d=7889400"], ["--duration", "91.3125d"]):
        assert loaded("limits", "--hardware", "h100-sxm", *options)["limit"]["value"] == base
    year = loaded("limits", "--hardware", "h100-sxm", "--duration", "1y")["limit"]["value"]
    assert math.isclose(year, 16 * base, rel_tol=1e-12)
    words = loaded("limits", "--hardware", "h100-sxm", "--set", "W_net=1e11")["limit"]["value"]
    for text in ("W_net=200GB/s", "W_net=1.6Tbit/s", "W_net=1e11word/s"):
        data = loaded("limits", "--hardware", "h100-sxm", "--set", text)
        assert math.isclose(data["limit"]["value"], words, rel_tol=1e-12)
    bytewise = loaded("limits", "--hardware", "h100-sxm", "--set", "w=1", "--set", "W_net=100GB/s")
    values = {p["name"]: p["value"] for p in bytewise["parameters"]}
    assert (values["W_net"], values["W_mem"]) == (1e11, 2 * 6.704e12)


@pytest.mark.parametrize("name", machine_names())
def test_every_machine_at_every_level(name: str) -> None:
    (entry,) = [m for m in loaded("hardware")["hardware"] if m["name"] == name]
    # Machines whose files state no latencies are asked with their sum.
    tau = () if not loaded("hardware", name)["missing"] else ("--set", "tau=9us")
    for level in entry["levels"]:
        data = loaded("limits", "--hardware", name, "--level", level, *tau)
        assert (data["hardware"], data["level"]) == (name, level)
        values = parameters_of(data)
        for piece in data["pieces"]:
            assert close(evaluated(piece["sympy"], values), piece["value"])
        assert data["limit"]["value"] == min(p["value"] for p in data["pieces"])


# Without hardware


def test_symbolic_limits() -> None:
    data = loaded("limits")
    assert data["limit"]["value"] is None
    assert data["limit"]["piece"] is None
    assert (data["hardware"], data["level"]) == (None, None)
    assert {p["name"] for p in data["parameters"] if p["value"] is not None} == {"r_D", "r_ff"}
    for piece in data["pieces"]:
        assert (piece["value"], piece["rules"]) == (None, None)
    movement, wall = data["pieces"]
    assert movement["elasticities"]["C"] == "-4/(1 - 2*alpha)"
    assert movement["multipliers"]["network"] == "4/(1 - 2*alpha)"
    assert movement["exponent_conditions"] == ["1 - 2*alpha > 0"]
    # With numbers put in, the formulas give what the same numbers give when set.
    numbers = loaded("limits", "--hardware", "h100-sxm", "--set", "alpha=0.2")
    values = parameters_of(numbers)
    for piece in (movement, wall):
        (known,) = [p for p in numbers["pieces"] if p["name"] == piece["name"]]
        assert close(evaluated(piece["sympy"], values), known["value"])
        for name, text in piece["elasticities"].items():
            assert close(evaluated(text, values), exact(known["elasticities"][name]), "1e-30")


@pytest.mark.parametrize("alpha", ["0.4995", "0.123457", "-0.4995", "1/3"])
def test_formulas_whose_numbers_are_long(alpha: str) -> None:
    """They are powers then, and still evaluate."""
    data = loaded("limits", "--set", f"alpha={alpha}")
    symbolic = loaded("limits")
    with localcontext(Context(prec=60)):
        exponent = Decimal(Fraction(alpha).numerator) / Fraction(alpha).denominator
    rng = Random(3)
    values = {p["name"]: Decimal(repr(rng.uniform(0.5, 2))) for p in data["parameters"]}
    values |= {"alpha": exponent, "r_D": Decimal(20), "r_ff": Decimal(4)}
    for piece, known in zip(data["pieces"], symbolic["pieces"], strict=True):
        assert piece["name"] == known["name"]
        assert close(evaluated(piece["sympy"], values), evaluated(known["sympy"], values), "1e-40")


# cliffs

CLIFFS = [
    "--hardware h100-sxm",
    "--hardware a100-sxm --set alpha=0.2",
    "--hardware v100-sxm --level device --set E=8 --set b_0=1e6",
    "--hardware h100-sxm --set alpha=0.3271",
]


@pytest.mark.parametrize("options", CLIFFS)
def test_cliffs(options: str) -> None:
    data = loaded("cliffs", *options.split())
    limits = loaded("limits", *options.split())
    values = parameters_of(data)
    assert data["problem"] == "cliffs"
    assert data["objective"]["symbol"] == "U"
    assert [c["between"] for c in data["cliffs"]] == [
        ["full utilization", "data movement"], ["data movement", "infeasible"]
    ]
    first, last = data["cliffs"]
    for cliff in data["cliffs"]:
        assert {"value", "unit", "latex", "between"} <= set(cliff)
        assert cliff["unit"] == "FLOP"
        assert close(evaluated(cliff["sympy"], values), cliff["value"])
    assert last["constraints"] == ["critical batch", "latency"]
    wanted = {p["name"]: p["value"] for p in limits["pieces"]}
    assert math.isclose(first["value"], wanted["data movement"], rel_tol=1e-12)
    assert math.isclose(last["value"], wanted["latency wall"], rel_tol=1e-12)
    pieces = {p["name"]: p for p in data["pieces"]}
    assert list(pieces) == ["full utilization", "data movement"]
    at = {**values, "T": Decimal(first["value"])}
    assert close(evaluated(pieces["data movement"]["sympy"], at), 1)
    assert pieces["full utilization"]["sympy"] == "1"
    growth = Fraction(pieces["data movement"]["elasticities"]["T"])
    assert growth == -(1 - 2 * Fraction(values["alpha"])) / 4


def test_utilization_of_one_run() -> None:
    cliff = loaded("cliffs", "--hardware", "h100-sxm")["cliffs"][0]["value"]
    for factor, piece in ((0.5, "full utilization"), (1.5, "data movement"), (81, "data movement")):
        data = loaded("cliffs", "--hardware", "h100-sxm", "--set", f"T={factor * cliff!r}")
        assert data["limit"]["piece"] == piece
        assert math.isclose(data["limit"]["value"], min(1, factor**-0.25), rel_tol=1e-9)
        devices = data["point"]["N"]["value"]
        values = {p["name"]: p["value"] for p in data["parameters"]}
        used = values["T"] / (devices * values["C"] * values["t_d"])
        assert math.isclose(used, data["limit"]["value"], rel_tol=1e-9)


def test_symbolic_cliffs() -> None:
    data = loaded("cliffs")
    assert [c["value"] for c in data["cliffs"]] == [None, None]
    assert [c["between"] for c in data["cliffs"]] == [
        ["full utilization", "data movement"], ["data movement", "infeasible"]
    ]
    for condition in data["feasibility"]:
        assert condition["constraints"] == ["critical batch", "latency"]


# The lists


def test_derivations() -> None:
    data = loaded("derivations")
    assert list(data) == ["derivations", "symscale_version", "schema"]
    assert [d["name"] for d in data["derivations"]] == list(derivation_names())
    for entry in data["derivations"]:
        assert set(entry) == {"name", "title"}
        assert entry["title"]


def test_symbols() -> None:
    data = loaded("symbols")
    assert [s["name"] for s in data["symbols"]] == list(NOTATION)
    for s in data["symbols"]:
        assert (s["unit"], s["meaning"]) == (NOTATION[s["name"]].unit, NOTATION[s["name"]].meaning)
        assert s["latex"]


@pytest.mark.parametrize("name", machine_names())
def test_hardware(name: str) -> None:
    data = loaded("hardware", name)
    assert data["name"] == name
    file = tomllib.loads((PRESETS / f"{name}.toml").read_text(encoding="utf-8"))
    figures = {f["name"]: f for f in data["figures"]}
    own = {key: table for key, table in file.items() if isinstance(table, dict)}
    for tier in file.get("tier", []):
        own |= {f"{tier['name']}.{k}": v for k, v in tier.items() if isinstance(v, dict)}
    for key, table in own.items():
        figure = figures[key]
        if table["value"] == "unlimited":
            assert (figure["value"], figure["unlimited"]) == (None, True)
        else:
            assert figure["value"] == table["value"]
            assert figure["unlimited"] is False
        assert figure["unit"] == table.get("unit", "1")
        assert figure["direction"] == table.get("direction")
        assert figure["source"]


def test_json_is_ascii(tmp_path: Path) -> None:
    """Whatever a terminal or a pipe does to other characters."""
    file = (PRESETS / "v100-sxm.toml").read_text(encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(file.replace("NVIDIA V100 SXM", "Gerät µ"), encoding="utf-8")
    text = answer("hardware", str(path), "--format", "json")
    assert text.isascii()
    assert json.loads(text)["title"] == "Gerät µ"


def test_numbers_that_json_cannot_carry() -> None:
    """Refused, not printed as infinity or as zero: see the text for them."""
    for setting in ("C=1e300", "W_net=1e300"):
        line = refusal(
            "limits", "--hardware", "h100-sxm", "--set", setting, "--format", "json", code=1
        )
        assert "--format text" in line
