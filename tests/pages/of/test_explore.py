"""Explorers: what their formulas say, the page, and what the command refuses."""

import json
import random
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from commands import answer, refusal
from explorers import OWN, explorer, forty_digits, own_machine
from pages import NASTY, parsed
from symscale.costs.cost import Cost
from symscale.derivation.library import derivation_names, load_derivation
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import NOTATION, symbol, symbols
from symscale.pages.formulas.programs import expression
from symscale.pages.of.explore import MOST_BYTES, explorer_page
from symscale.studies.comp_vs_comm.answer import ratio_answer
from symscale.studies.comp_vs_comm.ratios import CompVsComm, asymptotic_model
from symscale.studies.explorers.all import VANILLA, explorer_titles, load_explorer
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import transformer_request
from symscale.studies.training.answer import cliffs, training_limits

NAMES = tuple(explorer_titles())


@cache
def page(name: str) -> str:
    return explorer_page(explorer(name))


def settings(name: str, count: int) -> list[dict[Any, Any]]:
    """Random values of all parameters within their ranges, exactly those of doubles."""
    draw = random.Random(name)
    found = []
    for _ in range(count):
        values: dict[Any, Any] = {}
        for s in explorer(name).sliders:
            low, high = float(s.low), float(s.high)
            x = low * (high / low) ** draw.random() if s.log else draw.uniform(low, high)
            values[s.symbol] = sp.Integer(round(x)) if s.whole else sp.Rational(x)
        found.append(values)
    return found


def test_there_are_two() -> None:
    assert NAMES == ("training-limits", "edge-and-slack")
    assert set(NAMES) <= set(derivation_names())


def test_the_start_is_the_published_limit() -> None:
    values: dict[Any, Any] = {s.symbol: s.value for s in explorer("training-limits").sliders}
    formulas = explorer("training-limits").formulas
    found = training_limits("h100-sxm")
    for k, piece in enumerate(found.limit.pieces):
        wanted = found.value_of(piece)
        assert float(formulas[f"limit_{k}"].subs(values)) == pytest.approx(float(wanted or 0))
    both = cliffs("h100-sxm")
    for k, cliff in enumerate(both.cliffs):
        at = both.compute_at(cliff)
        assert float(formulas[f"cliff_{k}"].subs(values)) == pytest.approx(float(at or 0))


def test_edge_and_slack_are_those_of_the_derivation_and_the_ratio_command() -> None:
    formulas = explorer("edge-and-slack").formulas
    derivation = load_derivation("edge-and-slack")
    for key in ("edge", "slack"):
        assert sp.simplify(formulas[key] - derivation.step(key).statement.rhs) == 0
    k = symbol("k")
    study = CompVsComm(asymptotic_model())
    assert sp.simplify(formulas["share"] - study.share(k).expr) == 0
    values: dict[Any, Any] = {s.symbol: s.value for s in explorer("edge-and-slack").sliders}
    options = PlanOptions(tp=8, dp=64, batch=1024)
    found = ratio_answer(transformer_request("gpt-3", options), hardware="h100-sxm")
    numbers = {r.name: r.value for r in found.ratios}
    # Replicas lie on nodes of their own: gradients cross the outer links there too.
    pairs = (("edge", "edge"), ("slack", "slack"), ("share", "share"), ("part_2", "exposed"))
    exposed = ratio_answer(
        transformer_request("gpt-3", PlanOptions(tp=8, dp=64, batch=64)), hardware="h100-sxm"
    )
    few = {r.name: r.value for r in exposed.ratios}["exposed"]
    assert few is not None
    assert few > 0
    small = {**values, symbol("b"): values[symbol("b")] / 16}
    assert float(formulas["part_2"].subs(small)) == pytest.approx(float(few))
    for key, name in pairs:
        assert float(formulas[key].subs(values)) == pytest.approx(float(numbers[name] or 0))
    assert float(formulas["cliff_0"].subs(values)) == pytest.approx(float(numbers["crossing"] or 0))


def test_models_on_offer_have_the_edge_and_slack_of_the_study() -> None:
    d, n = symbols("d_model n_ctx")
    plain = CompVsComm(asymptotic_model())
    for name in VANILLA:
        model = load_model(name)
        own = CompVsComm(asymptotic_model(name))
        pairs: list[tuple[Cost, Cost]] = [(plain.edge, own.edge), (plain.slack, own.slack)]
        for formula, wanted in pairs:
            put = formula.expr.subs({d: model.d_model, n: model.context})
            assert sp.simplify(put - wanted.expr) == 0, name


def test_at_the_second_cliff_gradients_begin_to_show() -> None:
    formulas, k = explorer("edge-and-slack").formulas, symbol("k")
    for values in settings("edge-and-slack", 20):
        if values[symbol("N_DP")] == 1:
            continue
        cliff = formulas["cliff_1"].subs(values)
        just = [
            forty_digits(formulas["part_2"], {**values, k: cliff * f})
            for f in (sp.Rational(99, 100), sp.Rational(101, 100))
        ]
        assert just[0] == 0
        assert just[1] > 0


@pytest.mark.parametrize("name", NAMES)
def test_scripts_compute_what_python_computes(
    name: str, tmp_path: Path, need_program: Callable[[str], str]
) -> None:
    formulas, all_values = explorer(name).formulas, settings(name, 60)
    given = [{str(s): float(v) for s, v in values.items()} for values in all_values]
    text = re.search(r"const formulas = \{.*?\n\};\n", page(name), re.S).group()  # type: ignore[union-attr]
    assert all(f"=> {expression(e, 'javascript')},\n" in text for e in formulas.values())
    script = tmp_path / "run.js"
    script.write_text(
        text + f"console.log(JSON.stringify({json.dumps(given)}.map(v => "
        "Object.fromEntries(Object.entries(formulas).map(([k, f]) => [k, String(f(v))])))));\n"
    )
    node = [need_program("node"), str(script)]
    done = subprocess.run(node, capture_output=True, text=True, check=True)
    for values, found in zip(all_values, json.loads(done.stdout), strict=True):
        for key, expr in formulas.items():
            wanted = forty_digits(expr, values)
            assert float(found[key].replace("Infinity", "inf")) == pytest.approx(
                wanted, rel=1e-12
            ), key


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_complete_small_and_by_themselves(name: str) -> None:
    text = page(name)
    assert len(text.encode()) < MOST_BYTES
    assert text == explorer_page(load_explorer(name))
    tree = parsed(text)
    allowed = "http://www.w3.org/2000/svg"  # a namespace, not an address
    assert not re.search(r"https?:|@import|url\(|\bfetch\(|XMLHttp", text.replace(allowed, ""))
    for _, attributes in tree.seen:
        assert not {"src", "srcset", "action"} & set(attributes)
        assert not any(key.startswith("on") for key in attributes)
        assert attributes.get("href") in (None, "data:,")
    ids = [a["id"] for _, a in tree.seen if "id" in a]
    assert len(ids) == len(set(ids))
    labelled = {a["for"] for tag, a in tree.seen if tag == "label" and "for" in a}
    for tag, attributes in tree.seen:
        if tag in ("input", "select") and attributes.get("id") not in labelled:
            assert attributes.get("aria-label") or attributes["id"] in ("axis-x", "axis-y")
    for s in explorer(name).sliders:
        assert NOTATION[str(s.symbol)].unit in text
        assert s.low <= s.value <= s.high
    for options in explorer(name).presets.values():
        for preset in options:
            for s in explorer(name).sliders:
                assert s.low <= preset.values.get(s.symbol, s.value) <= s.high


@pytest.mark.parametrize("nasty", NASTY)
def test_a_machine_of_ones_own_is_escaped(nasty: str, tmp_path: Path) -> None:
    path = own_machine(tmp_path, nasty)
    if not nasty.isprintable():
        assert "not on one line" in refusal("hardware", path)
        return
    for name in NAMES:
        text = explorer_page(load_explorer(name, path))
        tree = parsed(text)
        shown = "".join(tree.text)
        assert nasty in shown
        plain = parsed(explorer_page(load_explorer(name, own_machine(tmp_path, "x"))))
        assert [tag for tag, _ in tree.seen] == [tag for tag, _ in plain.seen]
        own_machine(tmp_path, nasty)


def test_a_machine_of_ones_own_is_where_it_starts(tmp_path: Path) -> None:
    found = load_explorer("training-limits", own_machine(tmp_path, "Mine"), "device")
    values = {str(s.symbol): s.value for s in found.sliders}
    assert values["C"] == 400 * 10**12
    assert values["W_net"] == 25 * 10**9
    assert found.chosen == {"Hardware": "own"}
    assert any(p.title == "Mine, a device" for p in found.presets["Hardware"])
    node = load_explorer("training-limits", "a100-sxm")
    assert node.chosen == {"Hardware": "a100-sxm"}


def test_the_command_writes_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "limits.html"
    assert answer("explore", "training-limits", "-o", str(path)) == ""
    assert path.read_text(encoding="utf-8") == page("training-limits")
    text = refusal("explore", "training-limits", "-o", str(path))
    assert "the file exists" in text
    assert answer("explore", "training-limits", "-o", str(path), "--force") == ""


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    path = str(tmp_path / "x.html")
    for name in NAMES:
        assert name in refusal("explore")
    assert "did you mean training-limits?" in refusal("explore", "training-limit", "-o", path)
    assert "known: edge-and-slack, training-limits" in refusal("explore", "zzz", "-o", path)
    assert "-o FILE.html" in refusal("explore", "training-limits")
    assert "--level device needs a machine" in refusal(
        "explore", "training-limits", "--level", "device", "-o", path
    )
    assert "--level" in refusal("explore", "edge-and-slack", "--level", "node", "-o", path)
    own = own_machine(tmp_path, "x").replace("own.toml", "none.toml")
    assert "none.toml" in refusal("explore", "edge-and-slack", "--hardware", own, "-o", path)
    text = OWN.format(title='"x"', network='"unlimited"')
    (tmp_path / "free.toml").write_text(text, encoding="utf-8")
    free = str(tmp_path / "free.toml")
    assert "unlimited" in refusal("explore", "training-limits", "--hardware", free, "-o", path)
    assert not Path(path).exists()


def test_an_unknown_explorer_is_named_before_its_file() -> None:
    assert "unknown explorer 'nope'; known: edge-and-slack" in refusal("explore", "nope")
