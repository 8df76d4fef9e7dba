"""Machines: lumping devices, values of symbols, and listings."""

from fractions import Fraction
from pathlib import Path

import pytest

from symscale.errors import InputError
from symscale.facts.machines.lumped import (
    Figure,
    LumpedDevice,
    Machine,
    figures_of,
    load_machine,
    lump,
    machine_names,
    parameters_of,
)
from symscale.language.symbols import NOTATION

WORD = Fraction(2)
ONE_WAY = """\
flop_rate = { value = 989.4, unit = "TFLOP/s", condition = "dense, 16 bit", source = "bench" }
memory_bandwidth = { value = 3.35, unit = "TB/s", direction = "both", source = "bench" }
memory_capacity = { value = 80, unit = "GB", source = "bench" }
product_latency = { value = 4.5, unit = "us", source = "bench" }
[[tier]]
name = "cluster"
bandwidth = { value = 400, unit = "Gbit/s", direction = "one-way", source = "bench" }
latency = { value = 2, unit = "us", source = "bench" }
"""


@pytest.fixture
def one_way(tmp_path: Path) -> Machine:
    """A machine whose rate is stated and whose link is given in one direction."""
    path = tmp_path / "ours.toml"
    path.write_text(ONE_WAY)
    return load_machine(str(path))


# Levels


def test_levels() -> None:
    assert load_machine("h100-sxm").levels() == ("device", "node")
    assert load_machine("h100-sxm").default_level() == "node"
    assert load_machine("h100-sxm-global-nvlink").levels() == ("device",)
    assert load_machine("h100-sxm-global-nvlink").default_level() == "device"


@pytest.mark.parametrize("level", ["cluster", "superpod", "Node", "", "a\nb"])
def test_an_unknown_level(level: str) -> None:
    with pytest.raises(InputError, match=r"NVIDIA H100 SXM has no level .*; it has device, node"):
        lump(load_machine("h100-sxm"), level)


def test_a_level_of_a_machine_with_one_tier() -> None:
    with pytest.raises(InputError, match="has one tier and so no level 'node'; use --level device"):
        lump(load_machine("h100-sxm-global-nvlink"), "node")


def test_a_node_is_eight_devices() -> None:
    machine = load_machine("h100-sxm")
    one, node = lump(machine, "device"), lump(machine, "node")
    assert (one.devices, node.devices) == (1, 8)
    assert node.flop_rate == 8 * one.flop_rate
    assert node.memory_bandwidth_one_way_bytes == 8 * one.memory_bandwidth_one_way_bytes
    assert node.memory_capacity_bytes == 8 * one.memory_capacity_bytes == 640 * 10**9
    assert node.network_one_way_bytes == 8 * (one.network_one_way_bytes or 0) == 400 * 10**9
    assert node.collective_latency_s == one.collective_latency_s


# Values of symbols


def values(name: str, level: str) -> dict[str, Fraction | None]:
    parameters = parameters_of(lump(load_machine(name), level), WORD)
    for parameter in parameters:
        assert parameter.unit == NOTATION[parameter.name].unit
    return {parameter.name: parameter.value for parameter in parameters}


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("v100-sxm", 125583360000000),
        ("a100-sxm", 311869440000000),
        ("h100-pcie", 756449280000000),
        ("h100-sxm", 989429760000000),
    ],
)
def test_the_arithmetic_rate(name: str, rate: int) -> None:
    machine = load_machine(name)
    assert machine.flop_rate == rate
    assert machine.rate_is_derived
    assert machine.sustained_flop_rate < rate


def test_a_node_of_h100() -> None:
    assert values("h100-sxm", "node") == {
        "C": Fraction(8 * 989429760000000),
        "W_mem": Fraction("6.704e12"),
        "W_net": Fraction("2e11"),
        "tau": Fraction("9e-6"),
    }


@pytest.mark.parametrize(
    ("name", "level", "tau"),
    [
        ("v100-sxm", "node", "9e-6"),
        ("a100-sxm", "node", "9e-6"),
        ("h100-pcie", "device", "9e-6"),
        ("h100-sxm-low-latency", "node", "0.9e-6"),
        ("h100-sxm-superpod", "superpod", "11.25e-6"),
        ("h100-sxm-global-nvlink", "device", "6.75e-6"),
        ("h100-sxm-global-nvlink-and-ll", "device", "0.675e-6"),
        ("h100-sxm-infinite-network-and-ll", "device", "0.675e-6"),
    ],
)
def test_latency(name: str, level: str, tau: str) -> None:
    assert values(name, level)["tau"] == Fraction(tau)


# Shard widths and nanobatches of the published study, at the level of a node.
@pytest.mark.parametrize(
    ("name", "a", "n"),
    [
        ("v100-sxm", "26791.1168", "279.0741"),
        ("a100-sxm", "16633.0368", "401.1183"),
        ("h100-sxm", "26384.7936", "590.3519"),
    ],
)
def test_shard_and_nanobatch_of_the_study(name: str, a: str, n: str) -> None:
    value = values(name, "node")
    rate, network, memory = value["C"], value["W_net"], value["W_mem"]
    assert rate is not None
    assert network is not None
    assert memory is not None
    assert Fraction(2, 3) * rate / network == Fraction(a)
    assert round(rate / (2 * memory), 4) == Fraction(n)


def test_an_infinite_network() -> None:
    assert values("h100-sxm-infinite-network-and-ll", "device")["W_net"] is None


@pytest.mark.parametrize("word_bytes", [1, 2, 4, Fraction(1, 2)])
def test_wider_words_are_fewer(word_bytes: Fraction | int) -> None:
    node = lump(load_machine("h100-sxm"), "node")
    _, memory, network, _ = parameters_of(node, Fraction(word_bytes))
    assert memory.value == node.memory_bandwidth_one_way_bytes / word_bytes
    assert node.network_one_way_bytes is not None
    assert network.value == node.network_one_way_bytes / word_bytes


@pytest.mark.parametrize("word_bytes", [0, -2])
def test_a_word_has_bytes(word_bytes: int) -> None:
    with pytest.raises(InputError, match="a word needs more than 0 bytes"):
        parameters_of(lump(load_machine("h100-sxm"), "node"), Fraction(word_bytes))


def test_the_texts_say_how_a_value_came_about() -> None:
    study = (
        "Erdil and Schneider-Joseph 2024, "
        "repository ege-erdil/limits_to_distributed_training, commit b1f771c"
    )
    node = lump(load_machine("h100-sxm"), "node")
    rate, memory, network, latency = (p.source for p in parameters_of(node, WORD))
    assert rate == (
        "8 x (32 FLOP x 128 threads x 132 multiprocessors x 1830 MHz), dense, 16 bit; "
        f"NVIDIA 2022, H100 architecture white paper; {study}"
    )
    assert memory == (
        f"8 x 3352 GB/s (reads and writes together) / 2 (one direction) / (2 byte/word); {study}"
    )
    assert network == (
        "8 x 100 GB/s (both directions together) / 2 (one direction) / (2 byte/word), "
        f"tier cluster; {study}"
    )
    assert latency == (
        "4.5 us of a product + 2 x (1.125 us + 1.125 us): an all-reduce in two phases over "
        f"node, cluster; {study}"
    )


def test_a_bandwidth_of_one_direction_is_not_halved(one_way: Machine) -> None:
    network = parameters_of(lump(one_way, "device"), WORD)[2]
    assert network.value == 25 * 10**9
    assert network.source == "400 Gbit/s (one direction) / (2 byte/word), tier cluster; bench"


# Figures


@pytest.mark.parametrize(
    ("direction", "one_way", "both_ways"), [("both", 450, 900), ("one-way", 900, 1800)]
)
def test_directions(direction: str, one_way: int, both_ways: int) -> None:
    link = Figure("bandwidth", Fraction(900), "GB/s", direction, None, "bench")
    assert link.si == 900 * 10**9
    assert link.one_way == one_way * 10**9
    assert link.both_ways == both_ways * 10**9


def test_a_latency_has_no_direction() -> None:
    figure = Figure("latency", Fraction(1), "us", None, None, "bench")
    with pytest.raises(InputError, match="latency is no bandwidth"):
        _ = figure.one_way


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3352", "3352 GB/s"),
        ("12.5", "12.5 GB/s"),
        ("0.1125", "0.1125 GB/s"),
        ("1/3", "0.333333 GB/s"),
        ("1e20", "1e+20 GB/s"),
        ("1e-20", "1e-20 GB/s"),
    ],
)
def test_the_text_of_a_figure(value: str, text: str) -> None:
    assert Figure("bandwidth", Fraction(value), "GB/s", "both", None, "bench").text == text


@pytest.mark.parametrize("name", machine_names())
def test_the_listing_has_every_figure_once(name: str) -> None:
    machine = load_machine(name)
    names = [row.name for row in figures_of(machine)]
    assert len(set(names)) == len(names)
    assert set(machine.figures) <= set(names)
    derived = [row.name for row in figures_of(machine) if row.derived]
    assert derived == (["flop_rate"] if machine.rate_is_derived else [])
    assert ("released" in names) == (machine.released is not None)
    assert not set(machine.missing()) & set(names)


def test_the_listing_of_a_rate_that_was_stated(one_way: Machine) -> None:
    first = figures_of(one_way)[0]
    assert (first.name, first.text, first.unit) == ("flop_rate", "989.4", "TFLOP/s")
    assert (first.condition, first.source, first.derived) == ("dense, 16 bit", "bench", False)


def test_machines_can_be_compared_and_hashed() -> None:
    first: set[Machine] = {load_machine("h100-sxm"), load_machine("H100 SXM")}
    assert len(first) == 1
    lumps: set[LumpedDevice] = {lump(machine, "node") for machine in first}
    assert lumps == {lump(load_machine("h100-sxm"), "node")}
