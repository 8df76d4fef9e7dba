"""Generations against quotients by hand, and the command that prints them."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from commands import answer, refusal
from symscale.errors import InputError
from symscale.facts.machines.generations import generations
from symscale.facts.machines.lumped import load_machine

# By hand: year, FLOP/s, one-way byte/s in a node and between nodes. The NVIDIA rates of the
# study are 8 x 128 x 80 x 1533e6, 16 x 128 x 108 x 1410e6 and 32 x 128 x 132 x 1830e6.
BY_HAND: dict[str, tuple[int, int, int, int]] = {
    "mi100": (2020, 184_600_000_000_000, 138 * 10**9, 3_125_000_000),
    "mi250x": (2021, 383 * 10**12, 400 * 10**9, 25 * 10**9),
    "mi210": (2022, 181 * 10**12, 150 * 10**9, 6_250_000_000),
    "mi300x": (2023, 1_307_400_000_000_000, 448 * 10**9, 50 * 10**9),
    "v100-sxm": (2017, 125_583_360_000_000, 150 * 10**9, 6_250_000_000),
    "a100-sxm": (2020, 311_869_440_000_000, 300 * 10**9, 25 * 10**9),
    "h100-sxm": (2022, 989_429_760_000_000, 450 * 10**9, 50 * 10**9),
    "h200-sxm": (2023, 989_500_000_000_000, 450 * 10**9, 50 * 10**9),
    "b200-sxm": (2024, 2_250_000_000_000_000, 900 * 10**9, 50 * 10**9),
}
FIRST = {"NVIDIA": "v100-sxm", "AMD": "mi100"}

OURS = """title = "Ours"
vendor = "Nvidia"
released = { value = 2030, source = "our guess" }
flop_rate = { value = 9, unit = "PFLOP/s", condition = "dense, 16 bit", source = "our guess" }
memory_bandwidth = { value = 9, unit = "TB/s", direction = "both", source = "our guess" }
memory_capacity = { value = 300, unit = "GB", source = "our guess" }
[[tier]]
name = "node"
size = 8
bandwidth = { value = 3, unit = "TB/s", direction = "both", source = "our guess" }
[[tier]]
name = "cluster"
bandwidth = { value = 100, unit = "GB/s", direction = "one-way", source = "our guess" }
"""


def ours(folder: Path, old: str = "", new: str = "") -> str:
    assert OURS.count(old) >= 1
    path = folder / "ours.toml"
    path.write_text(OURS.replace(old, new) if old else OURS, encoding="utf-8")
    return str(path)


def test_who_is_there_in_order() -> None:
    assert [g.machine.name for g in generations()] == list(BY_HAND)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_generation_by_hand(name: str) -> None:
    (g,) = [g for g in generations() if g.machine.name == name]
    year, rate, node, cluster = BY_HAND[name]
    assert g.year == year
    assert [g.flop_rate, g.node_bytes, g.cluster_bytes] == [rate, node, cluster]
    assert g.flop_per_node_byte == Fraction(rate, node)
    assert g.flop_per_cluster_byte == Fraction(rate, cluster)
    _, first_rate, first_node, first_cluster = BY_HAND[FIRST[g.machine.vendor]]
    assert g.node_growth == Fraction(rate * first_node, node * first_rate)
    assert g.cluster_growth == Fraction(rate * first_cluster, cluster * first_rate)


def test_growth_in_round_numbers() -> None:
    """837.2 FLOP a byte of a V100's NVLink, 2500 of a B200's; 1337.7 of an MI100's hive."""
    by_name = {g.machine.name: g for g in generations()}
    assert round(float(by_name["v100-sxm"].flop_per_node_byte), 1) == 837.2
    assert by_name["b200-sxm"].flop_per_node_byte == 2500
    assert by_name["b200-sxm"].flop_per_memory_byte == Fraction("281.25")
    assert round(float(by_name["b200-sxm"].node_growth), 2) == 2.99
    assert round(float(by_name["mi100"].flop_per_node_byte), 1) == 1337.7
    assert round(float(by_name["mi300x"].node_growth), 2) == 2.18
    assert by_name["v100-sxm"].node_growth == by_name["mi100"].cluster_growth == 1


def test_a_file_among_them(tmp_path: Path) -> None:
    """9e15/1.5e12 FLOP a byte, against the V100's: the vendor without regard to case."""
    found = {g.machine.name: g for g in generations(load_machine(ours(tmp_path)))}
    assert list(found)[-1] == "ours"
    assert found["ours"].flop_per_node_byte == 6000
    assert found["ours"].node_growth == Fraction(6000 * 150 * 10**9, 125_583_360_000_000)
    text = answer("hardware", ours(tmp_path), "--generations")
    assert "ours      2030" in text
    assert "our guess" in text


def test_a_preset_that_is_there_already_comes_once() -> None:
    assert generations(load_machine("mi300x")) == generations()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('released = { value = 2030, source = "our guess" }\n', "", "no place among the gener"),
        ("dense, 16 bit", "sparse, 16 bit", "states its rate as 'sparse, 16 bit'"),
        ("dense, 16 bit", "dense, 8 bit", "states its rate as 'dense, 8 bit'"),
        ("dense, 16 bit", "dense, 116 bit", "states its rate as"),
        ("value = 100", 'value = "unlimited"', "has no limit on tier cluster"),
        (OURS[OURS.index("[[tier]]") : OURS.rindex("[[tier]]")], "", "has one tier"),
    ],
)
def test_a_file_that_has_no_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = ours(tmp_path, old, new)
    with pytest.raises(InputError, match=message):
        generations(load_machine(path))
    line = refusal("hardware", path, "--generations")
    assert "Ours" in line
    assert message in line


def test_the_table() -> None:
    text = answer("hardware", "--generations")
    rows = [line.split() for line in text.splitlines()]
    first = [row for row in rows if row[:1] == ["b200-sxm"]]
    assert first[0][:7] == ["b200-sxm", "2024", "2250", "900", "50", "8000", "180"]
    assert first[1] == ["b200-sxm", "281.25", "2500", "45000", "2.9861", "2.2395"]
    flat = " ".join(text.split())
    for needed in ("dense 16-bit", "one direction", "bfloat16", "DGX B200 data sheet"):
        assert needed in flat, needed


def test_json_is_exact() -> None:
    data = json.loads(answer("hardware", "--generations", "--format", "json"))
    assert [entry["name"] for entry in data["generations"]] == list(BY_HAND)
    for entry in data["generations"]:
        year, rate, node, cluster = BY_HAND[entry["name"]]
        assert (entry["year"], entry["first"]) == (year, FIRST[entry["vendor"]])
        assert Fraction(entry["flop_rate"]["exact"]) == rate
        assert Fraction(entry["flop_per_node_byte"]["exact"]) == Fraction(rate, node)
        assert Fraction(entry["flop_per_cluster_byte"]["exact"]) == Fraction(rate, cluster)
        assert entry["flop_per_node_byte"]["value"] == rate / node
        assert entry["sources"]
