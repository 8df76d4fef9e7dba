"""Pages in a real browser: headless Chromium, driven by Playwright.

Without either the tests are skipped, but fail where `CI` is set.
"""

import importlib.util
import math
import os
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from commands import answer, run
from explorers import explorer, forty_digits, own_machine
from pages import NASTY
from symscale.language.symbols import symbol
from symscale.studies.explorers.all import explorer_titles
from symscale.studies.training.answer import cliffs, training_limits

NAMES = tuple(explorer_titles())
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)
WIDTHS = (360, 1440)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    reason = "" if path else "chromium is not installed"
    if importlib.util.find_spec("playwright") is None:
        reason = "playwright is not installed"
    if reason:
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        started.new_context().new_page()
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The explorers, and a derivation, as files."""
    folder = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        assert run("explore", name, "-o", str(folder / f"{name}.html")).code == 0
    page = str(folder / "derivation.html")
    assert run("derive", "training-limits", "--format", "html", "-o", page).code == 0
    return {path.stem: path for path in folder.iterdir()}


@contextmanager
def opened(
    browser: Any, path: Path, fragment: str = "", width: int = 1440, scheme: str = "light",
    permissions: tuple[str, ...] = (),
) -> Iterator[Any]:
    """A page as it is when it opens; whatever it complains of or asks for is an error.

    All are shown in one window, one after the other: a new one takes three times as long.
    """
    heard: list[str] = []
    asked: list[str] = []
    listening: dict[str, Any] = {
        "console": lambda message: heard.append(message.text),
        "pageerror": lambda error: heard.append(str(error)),
        "dialog": lambda dialog: heard.append(dialog.message),
        "request": lambda request: asked.append(request.url),
    }
    window = browser.contexts[0]
    (page,) = window.pages
    page.goto("about:blank")
    page.mouse.move(0, 0)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="screen", color_scheme=scheme)
    window.grant_permissions(list(permissions))
    for event, hear in listening.items():
        page.on(event, hear)
    page.goto(path.as_uri() + fragment)
    settle(page)
    try:
        yield page
        settle(page)
        assert heard == []
        assert all(url.partition("#")[0] == path.as_uri() for url in asked), asked
        assert asked
    finally:
        for event, hear in listening.items():
            page.remove_listener(event, hear)
        window.clear_permissions()


def settle(page: Any) -> None:
    """Wait until what was asked to be drawn is drawn."""
    page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")


def until(page: Any, condition: str) -> None:
    """Wait until a condition holds; the page's policy forbids Playwright's own way to."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"it never came: {condition}")


def shown(page: Any) -> dict[str, float]:
    """The number in every output and field, all digits of it."""
    found: dict[str, str] = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('[data-value]')]"
        ".map(e => [e.id, e.dataset.value]))"
    )
    return {key: float(value) for key, value in found.items()}


def move(page: Any, positions: dict[str, int]) -> None:
    """Put sliders at positions of 0 to 1000."""
    page.evaluate(
        """positions => {
          for (const [name, position] of Object.entries(positions)) {
            const range = document.getElementById("s-" + name);
            range.value = position;
            range.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }""",
        positions,
    )
    settle(page)


def type_in(page: Any, name: str, text: str) -> None:
    """Type a value into a parameter's field."""
    page.fill(f"#v-{name}", text)
    page.press(f"#v-{name}", "Enter")
    settle(page)


def ruling(page: Any, choice: str) -> list[str]:
    """The keys of the pieces that are marked as ruling."""
    found: list[str] = page.evaluate(
        "key => [...document.querySelectorAll(`.piece.rules[id^=p-${key}_][aria-current=true]`)]"
        ".map(e => e.id.slice(2))", choice,
    )
    return found


def parameters(page: Any, name: str) -> dict[Any, Any]:
    values = shown(page)
    return {
        s.symbol: sp.Rational(values[f"v-{s.symbol}"]) for s in explorer(name).sliders
    }


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_pythons_wherever_the_sliders_are(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    found, draw = explorer(name), random.Random(name)
    with opened(browser, pages[name]) as page:
        for _ in range(30):
            move(page, {str(s.symbol): draw.randint(0, 1000) for s in found.sliders})
            values, numbers = parameters(page, name), shown(page)
            for s in found.sliders:
                assert s.low <= values[s.symbol] <= s.high
            for key, expr in found.formulas.items():
                if f"o-{key}" not in numbers:
                    continue
                wanted = forty_digits(expr, values)
                assert numbers[f"o-{key}"] == pytest.approx(wanted, rel=1e-12), key


def test_limit_and_piece_are_those_of_the_solver(browser: Any, pages: dict[str, Path]) -> None:
    """Another route: the study is solved anew at each setting."""
    draw, names = random.Random(7), set()
    with opened(browser, pages["training-limits"]) as page:
        for _ in range(6):
            moved = ("C", "W_net", "W_mem", "tau", "t_d", "b_0", "L_0", "E", "alpha")
            move(page, {name: draw.randint(0, 1000) for name in moved})
            values = {str(s): v for s, v in parameters(page, "training-limits").items()}
            values["alpha"] = values["alpha"].limit_denominator(1000)
            T = values.pop("T")
            found = training_limits(settings=values)
            piece = found.ruling
            assert piece is not None
            names.add(piece.name)
            assert page.inner_text("#n-limit") == piece.name
            wanted = float(found.value_of(piece) or 0)
            assert shown(page)["o-limit"] == pytest.approx(wanted, rel=1e-11)
            run = cliffs(settings=values)
            ends = [float(run.compute_at(c) or 0) for c in run.cliffs]
            on = page.evaluate("document.querySelectorAll('.marks li:not(.off)').length")
            assert on == len(ends)
            if float(T) > ends[-1]:
                assert page.inner_text("#n-utilization") == "no run fits"
    assert names == {"data movement", "latency wall"}


def test_the_piece_changes_at_the_cliff(browser: Any, pages: dict[str, Path]) -> None:
    first, end = (float(cliffs("h100-sxm").compute_at(c) or 0) for c in cliffs("h100-sxm").cliffs)
    with opened(browser, pages["training-limits"]) as page:
        assert page.inner_text("#n-utilization") == "data movement"
        cases: tuple[tuple[float, str, list[str]], ...] = (
            (first * (1 - 1e-9), "full utilization", ["utilization_0"]),
            (first * (1 + 1e-9), "data movement", ["utilization_1"]),
            (end * (1 - 1e-9), "data movement", ["utilization_1"]),
            (end * (1 + 1e-9), "no run fits", []),
        )
        for compute, name, keys in cases:
            type_in(page, "T", repr(compute))
            assert page.inner_text("#n-utilization") == name
            assert ruling(page, "utilization") == keys
        assert math.isnan(shown(page)["o-utilization"])
        # The largest run: where both pieces meet, 3 tau W_mem W_net^2 = 4 C^2.
        values = parameters(page, "training-limits")
        tau = 4 * values[symbol("C")] ** 2 / (
            3 * values[symbol("W_mem")] * values[symbol("W_net")] ** 2
        )
        for factor, key in ((1 - 1e-9, "limit_0"), (1 + 1e-9, "limit_1")):
            type_in(page, "tau", repr(float(tau) * factor))
            assert ruling(page, "limit") == [key]


def test_gradients_show_beyond_their_cliff(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["edge-and-slack"]) as page:
        cliff = shown(page)["o-cliff_1"]
        type_in(page, "k", repr(cliff * (1 - 1e-6)))
        assert shown(page)["o-part_2"] == 0
        type_in(page, "k", repr(cliff * (1 + 1e-6)))
        assert 0 < shown(page)["o-part_2"] < 1e-5
        type_in(page, "k", repr(shown(page)["o-cliff_0"] * 1.001))
        assert ruling(page, "part") == ["part_1"]


@pytest.mark.parametrize("name", NAMES)
def test_plots_follow_the_sliders(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    with opened(browser, pages[name]) as page:
        for svg in ("curves", "regions"):
            before = page.inner_html(f"#{svg}")
            assert page.get_attribute(f"#{svg}", "aria-label")
            move(page, {"C": 700, "W_net": 300})
            assert page.inner_html(f"#{svg}") != before
            move(page, {"C": 500, "W_net": 600})
        assert "NaN" not in page.inner_html("#curves") + page.inner_html("#regions")
        options = page.eval_on_selector_all("#axis-x option", "all => all.map(o => o.value)")
        for across in options:
            page.select_option("#axis-x", across)
            settle(page)
            assert page.input_value("#axis-x") != page.input_value("#axis-y")
            assert "NaN" not in page.inner_html("#regions")
        for place in (dict.fromkeys(options, 0), dict.fromkeys(options, 1000)):
            move(page, place)
            assert "NaN" not in page.inner_html("#curves") + page.inner_html("#regions")


def test_the_curve_goes_through_the_cliff(browser: Any, pages: dict[str, Path]) -> None:
    """The path ends where no run fits, and bends at the first cliff."""
    with opened(browser, pages["training-limits"]) as page:
        path = page.get_attribute("#curves .curve", "d")
        spots = [tuple(map(float, p)) for p in re.findall(r"([\d.]+) ([\d.]+)", path)]
        lines = page.eval_on_selector_all(
            "#curves .cliff", "all => all.map(e => Number(e.getAttribute('x1')))"
        )
        assert len(lines) == 2
        top = min(y for _, y in spots)
        flat = [x for x, y in spots if y == top]
        assert max(flat) == pytest.approx(lines[0], abs=3)
        assert max(x for x, _ in spots) == pytest.approx(lines[1], abs=0.1)


def test_keys_move_sliders(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["training-limits"]) as page:
        page.focus("#preset-0")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "s-C"
        before = shown(page)
        page.keyboard.press("ArrowRight")
        settle(page)
        after = shown(page)
        assert after["v-C"] > before["v-C"]
        assert after["o-limit"] < before["o-limit"]
        assert page.get_attribute("#s-C", "aria-valuetext").endswith("FLOP/s")
        page.keyboard.press("End")
        settle(page)
        assert shown(page)["v-C"] == 1e18
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "v-C"
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        until(page, "document.getElementById('said').textContent.includes('data movement')")


def test_everything_has_a_name_for_a_screen_reader(
    browser: Any, pages: dict[str, Path]
) -> None:
    for name, path in pages.items():
        with opened(browser, path) as page:
            for role in ("slider", "textbox", "combobox", "button", "img", "group"):
                for found in page.get_by_role(role).all():
                    label = found.evaluate(
                        "e => e.getAttribute('aria-label') || e.textContent.trim()"
                        " || [...(e.labels || [])].map(l => l.textContent.trim()).join(' ')"
                    )
                    assert label, (name, role)
            levels = page.eval_on_selector_all("h1,h2,h3", "all => all.map(e => +e.tagName[1])")
            assert levels[0] == 1
            assert levels.count(1) == 1
            assert all(b - a <= 1 for a, b in pairwise(levels))


def test_wrong_numbers_are_refused_and_said(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["training-limits"]) as page:
        before = shown(page)["o-limit"]
        for name, text in (("C", "1e19"), ("C", "abc"), ("C", ""), ("C", "-1"), ("L_0", "2.5"),
                           ("C", "Infinity"), ("alpha", "0.5"), ("C", "<b>")):
            type_in(page, name, text)
            assert page.get_attribute(f"#v-{name}", "aria-invalid") == "true"
            assert "number from" in page.inner_text("#error")
            assert shown(page)["o-limit"] == before
        type_in(page, "C", "1e15")
        assert page.inner_text("#error") == ""
        assert page.get_attribute("#v-C", "aria-invalid") is None


def test_presets_set_values_and_hands_unset_them(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["training-limits"]) as page:
        page.select_option("#preset-0", "a100-sxm")
        settle(page)
        assert shown(page)["v-C"] == 2494955520000000
        found = training_limits("a100-sxm")
        wanted = float(found.value_of(found.limit.pieces[0]) or 0)
        assert shown(page)["o-limit_0"] == pytest.approx(wanted, rel=1e-12)
        move(page, {"C": 400})
        assert page.input_value("#preset-0") == ""
        page.click("#reset")
        settle(page)
        assert page.input_value("#preset-0") == "h100-sxm"
        assert shown(page)["v-C"] == 7915438080000000


@pytest.mark.parametrize("name", NAMES)
def test_the_address_carries_the_setting(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    with opened(browser, pages[name]) as page:
        move(page, {"C": 321, "W_net": 654})
        page.select_option("#axis-x", "b_0" if name == "training-limits" else "b")
        across = page.input_value("#axis-x")
        until(page, f"location.hash.includes('x={across}')")
        numbers, fragment = shown(page), page.evaluate("location.hash")
    with opened(browser, pages[name], fragment) as page:
        assert shown(page) == numbers
        assert page.input_value("#axis-x") == across


@pytest.mark.parametrize(
    "fragment",
    ["#C=<script>alert(1)</script>", "#C=1e999&W_net=-1&tau=0&L_0=2.5&alpha=1", "#%", "#C=%00",
     "#C=NaN&x=C&y=C", "#__proto__=1&constructor=2&x=toString",
     "#preset0=\"><img src=x onerror=alert(1)>"],
)  # fmt: skip
def test_hostile_addresses_change_nothing(
    browser: Any, pages: dict[str, Path], fragment: str
) -> None:
    with opened(browser, pages["training-limits"]) as page:
        wanted = shown(page)
    with opened(browser, pages["training-limits"], fragment) as page:
        assert shown(page) == wanted


@pytest.mark.parametrize("nasty", [n for n in NASTY if n.isprintable()])
def test_titles_of_machines_stay_text(browser: Any, nasty: str, tmp_path: Path) -> None:
    machine, path = own_machine(tmp_path, nasty), tmp_path / "x.html"
    answer("explore", "training-limits", "--hardware", machine, "-o", str(path))
    with opened(browser, path) as page:
        chosen = page.evaluate("document.getElementById('preset-0').selectedOptions[0].textContent")
        assert chosen == f"{nasty}, 8 devices of a node"
        assert shown(page)["v-C"] == 3.2e15


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_fits(browser: Any, pages: dict[str, Path], width: int, scheme: str) -> None:
    for name, path in pages.items():
        with opened(browser, path, width=width, scheme=scheme) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            beyond = page.evaluate(
                """width => [...document.querySelectorAll("main *")].filter(e => {
                  const box = e.getBoundingClientRect();
                  return box.width > 1 && (box.right > width + 0.5 || box.left < -0.5)
                    && !e.closest(".scroll") && getComputedStyle(e).position !== "absolute";
                }).map(e => e.outerHTML.slice(0, 200))""",
                width,
            )
            assert beyond == [], name
            cut = page.evaluate(
                """() => [...document.querySelectorAll(
                    "button, label, h1, h2, h3, p, td, th, li, .unit, .label, input[type=text]")]
                  .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth
                    && getComputedStyle(e).display !== "inline")
                  .map(e => e.outerHTML.slice(0, 200))"""
            )
            assert cut == [], name
            out = page.evaluate(
                """() => [...document.querySelectorAll("svg")].flatMap(svg => {
                  const outer = svg.getBoundingClientRect();
                  return [...svg.querySelectorAll("text")].filter(t => {
                    const b = t.getBoundingClientRect();
                    return b.left < outer.left - 1 || b.right > outer.right + 1
                      || b.top < outer.top - 1 || b.bottom > outer.bottom + 1;
                  }).map(t => t.textContent);
                })"""
            )
            assert out == [], name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(browser: Any, pages: dict[str, Path], scheme: str) -> None:
    """Contrast of at least 4.5 between text and what is behind it."""
    script = """() => {
      const canvas = document.createElement("canvas")
        .getContext("2d", { willReadFrequently: true });
      const light = name => {
        canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(c => c / 255)
          .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const pairs = [
        ["--ink", "--paper"], ["--ink", "--panel"], ["--ink", "--mark"], ["--soft", "--paper"],
        ["--soft", "--panel"], ["--soft", "--mark"], ["--accent", "--paper"],
      ];
      return pairs.map(([a, b]) => {
        const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
        return [a, b, (high + 0.05) / (low + 0.05)];
      });
    }"""
    with opened(browser, pages["training-limits"], scheme=scheme) as page:
        poor = [row for row in page.evaluate(script) if row[2] < 4.5]
        assert poor == []
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_symbols_are_explained(browser: Any, pages: dict[str, Path]) -> None:
    for path in pages.values():
        with opened(browser, path) as page:
            assert not page.is_visible("#tip")
            found = page.locator(".eq [data-s=W_net]").first
            found.scroll_into_view_if_needed()
            found.hover()
            tip = page.inner_text("#tip")
            assert tip == "W_net [word/s]: network bandwidth of a device, one direction"
            page.keyboard.press("Escape")
            assert not page.is_visible("#tip")


def test_keys_show_the_symbols_of_a_formula(browser: Any, pages: dict[str, Path]) -> None:
    with opened(browser, pages["derivation"]) as page:
        page.keyboard.press("Tab")
        assert "P: parameters" in page.inner_text("#tip")


def test_latex_can_be_copied(browser: Any, pages: dict[str, Path]) -> None:
    granted = ("clipboard-read", "clipboard-write")
    with opened(browser, pages["training-limits"], permissions=granted) as page:
        page.click("#p-limit_1 button.copy")
        until(page, "document.getElementById('said').textContent.startsWith('Copied')")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(r"T = \left( \frac{3\, b_0^{2}\, t_d^{2}}{160")
        page.click("#link")
        page.wait_for_timeout(100)
        link = page.evaluate("navigator.clipboard.readText()")
        assert link.startswith(pages["training-limits"].as_uri() + "#C=7915438080000000&")


@pytest.mark.parametrize("name", NAMES)
def test_pages_print(browser: Any, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        settle(page)
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert not page.is_visible("#s-C")
        assert not page.is_visible("#reset")
        assert page.is_visible("#v-C")
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_formulas_show_without_scripts(browser: Any, pages: dict[str, Path]) -> None:
    window = browser.new_context(java_script_enabled=False)
    try:
        page = window.new_page()
        for path in pages.values():
            page.goto(path.as_uri())
            assert page.locator("math").first.bounding_box()["width"] > 5
            assert page.locator(".eq").count() > 3
    finally:
        window.close()


PARTLY = """
title = "<!-- </script> & $x"
minimize = "x + a/x + x^3 + a/x^2"
[parameters]
a = { default = 2, unit = "s", meaning = "the <b>load</b>" }
best = { default = 1, lower = 0.5, upper = 20 }
[variables]
x = { upper = 5, meaning = "what's chosen" }
[[constraints]]
name = "at </b> least"
expression = "x >= best"
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_a_problem_of_ones_own(browser: Any, tmp_path: Path, width: int) -> None:
    """The optimum at the least x, 1 + a + 1 + a at best = 1; where it lies inside, bounds."""
    problem, path = tmp_path / "own.toml", tmp_path / "own.html"
    text = PARTLY.replace('unit = "s", ', "").replace("a = {", 'a = { unit = "1",')
    problem.write_text(text, encoding="utf-8")
    assert run("explore", str(problem), "-o", str(path)).code == 0
    with opened(browser, path, width=width) as page:
        assert page.locator("h1").inner_text() == "<!-- </script> & $x"
        type_in(page, "best_", "4")
        assert shown(page)["o-optimum"] == pytest.approx(4 + 2 / 4 + 64 + 2 / 16)
        assert page.locator("#n-optimum").inner_text() == "at </b> least"
        assert shown(page)["o-result_0"] == 4
        type_in(page, "best_", "0.5")
        assert page.locator("#n-optimum").inner_text() == "no closed form rules here"
        now = shown(page)
        assert math.isnan(now["o-optimum"])
        x = [k / 1000 for k in range(500, 5000)]
        least = min(v + 2 / v + v**3 + 2 / v**2 for v in x)
        assert now["o-result_least"] <= least <= now["o-result_most"]
        assert page.locator("#curves .beyond").count() == 1
        page.select_option("#against", "best_")
        settle(page)
        assert page.locator("#curves .beyond").count() == 2
        assert page.locator("#curves path.curve").count() == 1
        assert page.locator("#regions g path").count() == 1
        width_now = page.evaluate("document.documentElement.scrollWidth")
        assert width_now <= width
