"""Hardware files: every rule of reading them, and the figures of those that ship.

The figures of four devices are those with which the program of the published
data-movement study was run (repository ege-erdil/limits_to_distributed_training,
commit b1f771c); what it computed with them is what other tests compare against.
Those of the others are copied from vendors' data sheets, each with its direction.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from symscale.errors import InputError, UnknownNameError
from symscale.facts.machines import reader as loader
from symscale.facts.machines.lumped import (
    FigureRow,
    Machine,
    figures_of,
    load_machine,
    lump,
    machine_names,
    parameters_of,
)
from symscale.language.sources import load_sources

Load = Callable[[str | bytes], Machine]

# What ships

# Columns: V100 SXM, A100 SXM, H100 PCIe, H100 SXM.
DEVICES = ("v100-sxm", "a100-sxm", "h100-pcie", "h100-sxm")
STUDY: dict[str, tuple[str, tuple[str, ...]]] = {
    "flop_per_clock_per_thread": ("FLOP", ("8", "16", "32", "32")),
    "threads_per_multiprocessor": ("1", ("128", "128", "128", "128")),
    "multiprocessors": ("1", ("80", "108", "114", "132")),
    "clock": ("MHz", ("1533", "1410", "1620", "1830")),
    "sustained_fraction": ("1", ("0.9", "0.85", "0.55", "0.7")),
    "register_bytes": ("byte", ("65536", "65536", "65536", "65536")),
    "processing_blocks": ("1", ("4", "4", "4", "4")),
    "l2_capacity": ("MiB", ("6", "40", "50", "50")),
    "l2_bandwidth": ("GB/s", ("2155", "5603", "5563", "6441")),
    "memory_bandwidth": ("GB/s", ("900", "1555", "2039", "3352")),
    "memory_capacity": ("GB", ("32", "40", "80", "80")),
    "product_latency": ("us", ("4.5", "4.5", "4.5", "4.5")),
    "node.bandwidth": ("GB/s", ("300", "600", "900", "900")),
    "node.latency": ("us", ("1.125", "1.125", "1.125", "1.125")),
    "node.size": ("1", ("8", "8", "8", "8")),
    "cluster.bandwidth": ("GB/s", ("12.5", "50", "100", "100")),
    "cluster.latency": ("us", ("1.125", "1.125", "1.125", "1.125")),
}
SHARED_MEMORY = (False, False, True, True)
WHAT_IFS = (
    "h100-sxm-superpod",
    "h100-sxm-low-latency",
    "h100-sxm-global-nvlink",
    "h100-sxm-global-nvlink-and-ll",
    "h100-sxm-infinite-network-and-ll",
)

# As vendors print them: TFLOP/s, TB/s of memory, GB, devices in a node, GB/s of both
# directions of the links in a node; and between nodes Gbit/s of one direction.
PRINTED: dict[str, tuple[str, str, str, int, str, str]] = {
    "h200-sxm": ("989.5", "4.8", "141", 8, "900", "400"),
    "b200-sxm": ("2250", "8", "180", 8, "1800", "400"),
    "mi100": ("184.6", "1.2288", "32", 4, "276", "25"),
    "mi210": ("181", "1.6", "64", 4, "300", "50"),
    "mi250x": ("383", "3.2", "128", 4, "800", "200"),
    "mi300x": ("1307.4", "5.3", "192", 8, "896", "400"),
}
# Links of a device, and GT/s of each of 16 lanes or GB/s each way: the same bandwidth
# counted from below, which would show a figure of one direction taken for both.
LINKS: dict[str, tuple[int, str]] = {
    "h200-sxm": (18, "25"),
    "b200-sxm": (18, "50"),
    "mi100": (3, "46"),
    "mi210": (3, "50"),
    "mi250x": (8, "50"),
    "mi300x": (7, "64"),
}
TWO_CS = "mi210-node-two-cs"


def rows_of(name: str) -> dict[str, FigureRow]:
    return {row.name: row for row in figures_of(load_machine(name))}


def network(machine: Machine) -> list[tuple[str, int | None, str, str]]:
    return [
        (t.name, t.size, t.bandwidth.text, machine.figure(f"{t.name}.latency").text)
        for t in machine.tiers
    ]


def differing(name: str) -> set[str]:
    """Name the figures of a what-if that are not those of its base."""
    machine, base = load_machine(name), load_machine("h100-sxm")
    assert set(machine.figures) == set(base.figures)
    return {key for key in base.figures if machine.figures[key] != base.figures[key]}


def test_the_presets_are_all_there() -> None:
    assert set(machine_names()) == {*DEVICES, *WHAT_IFS, *PRINTED, TWO_CS}


@pytest.mark.parametrize("name", PRINTED)
def test_a_figure_is_that_of_the_data_sheet(name: str) -> None:
    rate, memory, capacity, size, node, cluster = PRINTED[name]
    machine = load_machine(name)
    assert machine.flop_rate == Fraction(rate) * 10**12
    assert machine.figure("memory_bandwidth").both_ways == Fraction(memory) * 10**12
    assert machine.memory_capacity_bytes == Fraction(capacity) * 10**9
    assert [(tier.name, tier.size) for tier in machine.tiers] == [("node", size), ("cluster", None)]
    assert machine.figure("node.bandwidth").both_ways == Fraction(node) * 10**9
    assert machine.figure("cluster.bandwidth").one_way == Fraction(cluster) * 10**9 / 8


@pytest.mark.parametrize("name", LINKS)
def test_links_of_a_node_add_up(name: str) -> None:
    count, each_way = LINKS[name]
    link = load_machine(name).figure("node.bandwidth")
    assert link.one_way == count * Fraction(each_way) * 10**9


# Table of the study of computation against communication, at k = 1, 2, 4 and figures
# that are not confirmed: F = 0.7 x 181e12 FLOP/s, W = 150e9 byte/s in one direction.
SHARES = [
    (4096, 1024, 16, "0.40 0.57 0.73"),
    (8192, 2048, 32, "0.41 0.58 0.73"),
    (16384, 2048, 64, "0.41 0.59 0.74"),
    (32768, 2048, 128, "0.42 0.59 0.74"),
    (65536, 4096, 128, "0.26 0.42 0.59"),
    (65536, 4096, 256, "0.42 0.59 0.74"),
]


def test_the_figures_behind_the_shares_of_the_study() -> None:
    machine = load_machine(TWO_CS)
    assert machine.sustained_flop_rate == Fraction("126.7e12")
    (tier,) = machine.tiers
    assert tier.bandwidth.one_way == 150 * 10**9
    assert tier.bandwidth.one_way == load_machine("mi210").figure("node.bandwidth").one_way
    assert "unconfirmed" in machine.reason
    for name in ("sustained_fraction", "cluster.bandwidth"):
        assert "[unconfirmed]" in machine.figure(name).note


@pytest.mark.parametrize(("width", "sequence", "tp", "shares"), SHARES)
def test_the_shares_of_the_study(width: int, sequence: int, tp: int, shares: str) -> None:
    """r = (2/9) (TP - 1) F / (H (1 + SL/(6 H)) W), share = r k/(1 + r k)."""
    machine = load_machine(TWO_CS)
    rate, link = machine.sustained_flop_rate, machine.tiers[-1].bandwidth.one_way
    r = Fraction(2, 9) * (tp - 1) * rate / (width * (1 + Fraction(sequence, 6 * width)) * link)
    assert [f"{float(k * r / (1 + k * r)):.2f}" for k in (1, 2, 4)] == shares.split()


@pytest.mark.parametrize("figure", STUDY)
@pytest.mark.parametrize("device", DEVICES)
def test_a_figure_is_that_of_the_study(device: str, figure: str) -> None:
    unit, values = STUDY[figure]
    row = rows_of(device)[figure]
    assert row.value == Fraction(values[DEVICES.index(device)])
    assert row.unit == unit


@pytest.mark.parametrize(("device", "expected"), list(zip(DEVICES, SHARED_MEMORY, strict=True)))
def test_distributed_shared_memory(device: str, expected: bool) -> None:
    assert load_machine(device).distributed_shared_memory is expected


@pytest.mark.parametrize("device", DEVICES)
def test_the_network_of_a_device(device: str) -> None:
    tiers = load_machine(device).tiers
    assert [(tier.name, tier.size) for tier in tiers] == [("node", 8), ("cluster", None)]


@pytest.mark.parametrize("name", machine_names())
def test_every_bandwidth_has_a_direction_and_every_rate_a_condition(name: str) -> None:
    for row in figures_of(load_machine(name)):
        assert (row.direction is not None) == row.name.endswith("bandwidth"), row.name
        if row.name in ("flop_rate", "flop_per_clock_per_thread"):
            assert row.condition == ("dense, 16 bit (FP16)" if name == "mi100" else "dense, 16 bit")


@pytest.mark.parametrize("name", machine_names())
def test_every_figure_has_a_source_with_a_key(name: str) -> None:
    machine = load_machine(name)
    known = set(load_sources())
    assert {figure.source for figure in machine.figures.values()} <= known
    assert machine.distributed_shared_memory_source in known | {""}
    assert machine.released is None or machine.released.source in known
    for tier in machine.tiers:
        assert tier.bandwidth.source in known
        assert tier.latency is None or tier.latency.source in known
        assert (tier.source in known) == (tier.size is not None)


@pytest.mark.parametrize("name", WHAT_IFS)
def test_a_what_if_says_what_it_differs_in(name: str) -> None:
    machine = load_machine(name)
    assert machine.base is not None
    assert machine.base.startswith("h100-sxm")
    assert len(machine.reason) > 20
    assert machine.title != load_machine("h100-sxm").title


def test_superpod() -> None:
    assert not differing("h100-sxm-superpod")
    machine = load_machine("h100-sxm-superpod")
    assert network(machine) == [
        ("node", 8, "900 GB/s", "1.125 us"),
        ("superpod", 32, "450 GB/s", "1.125 us"),
        ("cluster", None, "100 GB/s", "1.125 us"),
    ]
    assert machine.levels() == ("device", "node", "superpod")
    assert lump(machine, "superpod").devices == 256


def test_low_latency() -> None:
    assert differing("h100-sxm-low-latency") == {"product_latency"}
    machine = load_machine("h100-sxm-low-latency")
    assert machine.product_latency_s == Fraction("4.5e-7")
    assert network(machine) == [
        ("node", 8, "900 GB/s", "0.1125 us"),
        ("cluster", None, "100 GB/s", "0.1125 us"),
    ]


def test_global_nvlink() -> None:
    assert not differing("h100-sxm-global-nvlink")
    machine = load_machine("h100-sxm-global-nvlink")
    assert network(machine) == [("cluster", None, "900 GB/s", "1.125 us")]


def test_global_nvlink_and_low_latency() -> None:
    assert differing("h100-sxm-global-nvlink-and-ll") == {"product_latency"}
    machine = load_machine("h100-sxm-global-nvlink-and-ll")
    assert machine.product_latency_s == Fraction("4.5e-7")
    assert network(machine) == [("cluster", None, "900 GB/s", "0.1125 us")]


def test_infinite_network_and_low_latency() -> None:
    """One tier, as in the study's run: its plans have one network level."""
    assert differing("h100-sxm-infinite-network-and-ll") == {"product_latency"}
    machine = load_machine("h100-sxm-infinite-network-and-ll")
    assert machine.product_latency_s == Fraction("4.5e-7")
    assert network(machine) == [("cluster", None, "unlimited", "0.1125 us")]
    assert lump(machine, "device").network_one_way_bytes is None


@pytest.mark.parametrize("name", [*machine_names(), None])
def test_files_are_short_plain_text(name: str | None) -> None:
    presets = files("symscale.facts.machines") / "presets"
    file = presets / f"{name}.toml" if name else files("symscale.language") / "sources.toml"
    text = file.read_text(encoding="utf-8")
    assert text.isascii()
    assert text.endswith("\n")
    assert len(text) < (10_000 if name else 50_000)


# Users' own files

GOOD = """\
title = "Our device"
flop_rate = { value = 989.4, unit = "TFLOP/s", condition = "dense, 16 bit", source = "bench" }
memory_bandwidth = { value = "3.35", unit = "TB/s", direction = "both", source = "bench" }
memory_capacity = { value = 80, unit = "GB", source = "bench" }
product_latency = { value = 4.5, unit = "us", source = "bench" }
[[tier]]
name = "node"
size = 8
bandwidth = { value = 450, unit = "GB/s", direction = "one-way", source = "bench" }
latency = { value = 1, unit = "us", source = "bench" }
[[tier]]
name = "cluster"
bandwidth = { value = 400, unit = "Gbit/s", direction = "one-way", source = "bench" }
latency = { value = 2, unit = "us", source = "bench" }
"""
WHAT_IF = """\
base = "h100-sxm"
reason = "a faster cluster"
[[tier]]
name = "node"
[[tier]]
name = "cluster"
bandwidth = { value = 200, unit = "GB/s", direction = "both", source = "bench" }
"""
MEMORY = (
    'memory_bandwidth = { value = "3.35", unit = "TB/s", direction = "both", source = "bench" }'
)
RATE = (
    'flop_rate = { value = 989.4, unit = "TFLOP/s", condition = "dense, 16 bit", source = "bench" }'
)
CAPACITY = 'memory_capacity = { value = 80, unit = "GB", source = "bench" }'
NODE_SIZE = 'name = "node"\nsize = 8'
CLUSTER = 'name = "cluster"'


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A function from the text of a file to the machine in it."""

    def load_text(text: str | bytes) -> Machine:
        path = tmp_path / "mine.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_machine(str(path))

    return load_text


def changed(old: str, new: str, text: str = GOOD) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def refused(load: Load, text: str | bytes) -> str:
    """Load a file that must not load; return the message without the folder."""
    with pytest.raises(InputError) as caught:
        load(text)
    assert caught.value.exit_code == 2
    message = str(caught.value)
    assert message.isprintable(), "one line"
    assert len(message) < 500
    before, found, after = message.partition("mine.toml: ")
    assert found, "names the file"
    assert "/" in before
    return after


# Names and paths


@pytest.mark.parametrize("name", ["h100-sxm", "H100-SXM", "H100 SXM", " h100__sxm ", "h100 - sxm"])
def test_names_without_regard_to_case_and_separators(name: str) -> None:
    assert load_machine(name).name == "h100-sxm"


@pytest.mark.parametrize("name", ["h100", "h100-smx", "", " ", "x" * 5000, "a\nb", "\udcff", "no"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown hardware .*symscale hardware") as caught:
        load_machine(name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean h100-sxm"):
        load_machine("h100-smx")


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/no/such/file.toml", "no such file"),
        ("x" * 5000 + ".toml", "cannot be read"),
        ("a\0b.toml", r"a.x00b.toml: "),
        ("\udcff.toml", "no such file"),
        ("./mine.json", "a path that ends in .toml"),
    ],
)
def test_a_path_that_leads_nowhere(path: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        load_machine(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(InputError, match="is not a file; give"):
        load_machine(str(folder))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"cannot be read \(Permission denied\); check"):
        load_machine(str(path))


# A user's own file


def test_a_full_file(load: Load) -> None:
    machine = load(GOOD)
    assert (machine.name, machine.title, machine.base) == ("mine", "Our device", None)
    assert machine.flop_rate == Fraction("989.4e12")
    assert not machine.rate_is_derived
    assert machine.figure("memory_bandwidth").one_way == Fraction("1.675e12")
    assert machine.distributed_shared_memory is None
    assert [tier.bandwidth.one_way for tier in machine.tiers] == [450 * 10**9, 50 * 10**9]
    node = lump(machine, "node")
    assert node.network_one_way_bytes == 400 * 10**9
    assert node.collective_latency_s == Fraction("10.5e-6")
    assert parameters_of(node, Fraction(2))[0].source == "8 x 989.4 TFLOP/s, dense, 16 bit; bench"


def test_decimals_are_read_as_typed(load: Load) -> None:
    machine = load(changed("value = 4.5", "value = 0.1"))
    assert machine.product_latency_s == Fraction(1, 10**7)


@pytest.mark.parametrize("value", ["4.5", '"4.5"', "45e-1", '"9/2"', "0.000_004_5e6", '" 4.5 "'])
def test_ways_to_write_a_number(load: Load, value: str) -> None:
    machine = load(changed("value = 4.5", f"value = {value}"))
    assert machine.product_latency_s == Fraction("4.5e-6")


def test_windows_text(load: Load) -> None:
    assert load(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()).title == "Our device"


def test_a_file_without_a_title_is_called_by_its_name(load: Load) -> None:
    assert load(changed('title = "Our device"\n', "")).title == "mine"


def test_caches_are_needed_only_when_asked_for(load: Load) -> None:
    machine = load(GOOD)
    with pytest.raises(InputError, match="Our device has no l2_capacity; add l2_capacity = "):
        machine.figure("l2_capacity")
    with pytest.raises(InputError, match="no sustained_fraction"):
        _ = machine.sustained_flop_rate
    with pytest.raises(UnknownNameError, match="l2_capacity"):
        machine.figure("l2_capacty")


LATENCY = 'latency = { value = 2, unit = "us", source = "bench" }'
PRODUCT = 'product_latency = { value = 4.5, unit = "us", source = "bench" }\n'


def test_latencies_are_needed_only_when_asked_for(load: Load) -> None:
    """The line names the figure, the machine, and the key to add."""
    machine = load(changed(LATENCY, ""))
    assert machine.tiers[-1].latency is None
    assert machine.product_latency_s == Fraction("4.5e-6")
    node = lump(machine, "node")
    assert [p.name for p in parameters_of(node, Fraction(2), ("tau",))] == ["C", "W_mem", "W_net"]
    with pytest.raises(InputError) as caught:
        parameters_of(node, Fraction(2))
    assert str(caught.value) == (
        "Our device has no latency of tier cluster; add latency = { value = ..., "
        'unit = "us", source = "..." } below [[tier]] cluster to its file, '
        "or give their sum instead: --set tau=9us, say"
    )
    with pytest.raises(InputError, match="no latency of tier cluster; add"):
        _ = node.collective_latency_s
    with pytest.raises(InputError, match="Our device has no product_latency; add product_lat"):
        _ = load(changed(PRODUCT, "")).product_latency_s


def test_everything_that_is_missing_stands_in_one_line(load: Load) -> None:
    machine = load(changed(PRODUCT, ""))
    wanted = ("clock", "l2_bandwidth", "distributed_shared_memory", "memory_capacity")
    with pytest.raises(InputError) as caught:
        machine.require((*wanted, "product_latency", "node.latency"))
    text = str(caught.value)
    assert text.startswith(
        "Our device has no clock, no l2_bandwidth, no distributed_shared_memory "
        'and no product_latency; add clock = { value = ..., unit = "MHz", source = "..." }, '
        'l2_bandwidth = { value = ..., unit = "GB/s", direction = "both", source = "..." }, '
        'distributed_shared_memory = { value = true, source = "..." } and product_latency = '
    )
    assert text.endswith(" to its file")
    machine.require(["memory_capacity", "node.latency", "node.bandwidth"])
    for name in ("l2", "rack.latency", "node.size", "", "node."):
        with pytest.raises(UnknownNameError, match="unknown figure"):
            machine.require([name])


def test_a_user_adds_what_a_preset_lacks(load: Load) -> None:
    """In a file with the preset as its base, as the line says; tau is then 1 + 2 (2 + 3) us."""
    with pytest.raises(InputError, match='to a file with base = "mi300x"'):
        load_machine("mi300x").figure("product_latency")
    machine = load(
        'base = "mi300x"\nreason = "measured"\n'
        'product_latency = { value = 1, unit = "us", source = "bench" }\n'
        '[[tier]]\nname = "node"\nlatency = { value = 2, unit = "us", source = "bench" }\n'
        '[[tier]]\nname = "cluster"\nlatency = { value = 3, unit = "us", source = "bench" }\n'
    )
    assert lump(machine, "node").collective_latency_s == Fraction("11e-6")
    assert machine.flop_rate == load_machine("mi300x").flop_rate
    assert not set(machine.latencies()) & set(machine.missing())
    assert (machine.released, machine.preset) == (None, False)


@pytest.mark.parametrize("name", machine_names())
def test_what_is_missing(name: str) -> None:
    machine = load_machine(name)
    if name in PRINTED:
        assert machine.missing() == (
            "multiprocessors", "clock", "sustained_fraction", "register_bytes",
            "processing_blocks", "l2_capacity", "l2_bandwidth", "distributed_shared_memory",
            "product_latency", "node.latency", "cluster.latency",
        )
    elif name == TWO_CS:
        assert machine.missing()[1:3] == ("clock", "register_bytes")
    else:
        assert machine.missing() == ()
        machine.require(("distributed_shared_memory", "l2_bandwidth", *machine.latencies()))


def test_a_figure_of_a_tier_by_name(load: Load) -> None:
    machine = load(GOOD)
    assert machine.figure("node.bandwidth") == machine.tiers[0].bandwidth
    assert machine.figure("cluster.latency").si == Fraction("2e-6")


def test_a_flag(load: Load) -> None:
    flag = 'distributed_shared_memory = { value = true, source = "bench" }\n'
    assert load(flag + GOOD).distributed_shared_memory is True


def test_a_link_without_a_limit(load: Load) -> None:
    machine = load(changed("value = 400", 'value = "unlimited"'))
    link = machine.tiers[-1].bandwidth
    assert link.unlimited
    assert link.text == "unlimited"
    with pytest.raises(InputError, match="unlimited"):
        _ = link.one_way
    parameter = parameters_of(lump(machine, "node"), Fraction(2))[2]
    assert (parameter.name, parameter.value) == ("W_net", None)


def test_a_what_if(load: Load) -> None:
    machine = load(WHAT_IF)
    base = load_machine("h100-sxm")
    assert (machine.base, machine.reason) == ("h100-sxm", "a faster cluster")
    assert machine.figures == base.figures
    assert machine.tiers[0] == base.tiers[0]
    assert machine.tiers[1].latency == base.tiers[1].latency
    assert machine.tiers[1].bandwidth.si == 200 * 10**9
    assert machine.distributed_shared_memory is True


def test_the_source_of_a_size_goes_with_the_size(load: Load) -> None:
    assert load(WHAT_IF).tiers[0].source == load_machine("h100-sxm").tiers[0].source
    wider = changed('name = "node"', 'name = "node"\nsize = 16', WHAT_IF)
    assert (load(wider).tiers[0].size, load(wider).tiers[0].source) == (16, "")
    sourced = wider.replace("size = 16", 'size = 16\nsource = "our racks"')
    assert load(sourced).tiers[0].source == "our racks"


def test_a_what_if_without_tiers_keeps_those_of_its_base(load: Load) -> None:
    machine = load(WHAT_IF.partition("[[tier]]")[0])
    assert machine.tiers == load_machine("h100-sxm").tiers


def test_a_what_if_may_state_the_rate_in_the_other_form(load: Load) -> None:
    machine = load(RATE + "\n" + WHAT_IF)
    assert machine.flop_rate == Fraction("989.4e12")
    assert "flop_per_clock_per_thread" not in machine.figures
    assert machine.figure("multiprocessors").value == 132


# Every rule has a file that breaks it: old text, new text, what the message says.

BAD: list[tuple[str, str, str, str]] = [
    # What a figure needs.
    ("no value", 'value = "3.35", ', "", "memory_bandwidth: has no value; add value"),
    ("no unit", 'unit = "TB/s", ', "", 'memory_bandwidth: has no unit; add unit = "GB/s"'),
    ("no source", MEMORY, MEMORY.replace(', source = "bench"', ""), "has no source; add source"),
    ("no direction", MEMORY, MEMORY.replace('direction = "both", ', ""),
     'memory_bandwidth: has no direction; add direction = "one-way" or "both"'),
    ("no condition", 'condition = "dense, 16 bit", ', "", "flop_rate: has no condition; write"),
    ("link without direction", 'value = 450, unit = "GB/s", direction = "one-way"',
     'value = 450, unit = "GB/s"', "tier 1 (node): bandwidth: has no direction; add"),
    # What stands in it.
    ("vague condition", "dense, 16 bit", "16 bit", "condition is not understood; write"),
    ("no precision", "dense, 16 bit", "dense", "condition is not understood; write"),
    ("odd condition", '"dense, 16 bit"', "16", "condition is not a text; write"),
    ("odd direction", '"both"', '"duplex"', "direction 'duplex' is unknown; write direction ="),
    ("needless direction", 'unit = "GB", source', 'unit = "GB", direction = "both", source',
     "memory_capacity: has a direction but is no bandwidth; remove it"),
    ("short source", CAPACITY, CAPACITY.replace("bench", "x"), "source 'x' says too little; name"),
    ("empty source", CAPACITY, CAPACITY.replace("bench", " "), "source is not a text; write"),
    ("number as source", CAPACITY, CAPACITY.replace('"bench"', "7"), "source is not a text"),
    ("digits as source", CAPACITY, CAPACITY.replace("bench", "12345"), "says too little"),
    ("source of two lines", CAPACITY, CAPACITY.replace("bench", "a bench\\nours"), "on one line"),
    ("long note", 'unit = "GB", source', f'unit = "GB", note = "{"x" * 301}", source',
     "note is too long"),
    # Units.
    ("wrong unit", 'unit = "GB"', 'unit = "GB/s"', "memory_capacity: unit 'GB/s' does not fit; wr"),
    ("words", 'unit = "TB/s"', 'unit = "word/s"', "memory_bandwidth: unit 'word/s' does not fit"),
    ("no such unit", 'unit = "GB"', 'unit = "parsec"', "memory_capacity: unknown unit 'parsec'"),
    ("empty unit", 'unit = "GB"', 'unit = ""', "unit is not a text; write"),
    ("number as unit", 'unit = "GB"', "unit = 1", "unit is not a text; write"),
    ("long unit", 'unit = "GB"', f'unit = "{"s*" * 140}s"', "memory_capacity: "),
    ("rate and count", 'unit = "TFLOP/s"', 'unit = "TFLOP"', "flop_rate: unit 'TFLOP' does not"),
    ("unit in value", "value = 80,", 'value = "80 GB",', "value '80 GB' is not a number; write"),
    # Numbers.
    ("negative", "value = 80,", "value = -80,", "memory_capacity: value is not above zero; write"),
    ("zero", "value = 80,", "value = 0,", "memory_capacity: value is not above zero; write"),
    ("negative zero", "value = 80,", "value = -0.0,", "value is not above zero"),
    ("nan", "value = 80,", "value = nan,", "value 'nan' is not a number; write"),
    ("infinite", "value = 80,", "value = inf,", "value 'inf' is not a number; write"),
    ("minus infinite", "value = 80,", "value = -inf,", "is not a number; write"),
    ("true", "value = 80,", "value = true,", "memory_capacity: value is not a number; write"),
    ("list", "value = 80,", "value = [80],", "value is not a number; write"),
    ("table", "value = 80,", "value = { x = 80 },", "value is not a number; write"),
    ("date", "value = 80,", "value = 2024-01-01,", "value is not a number; write"),
    ("nonsense", "value = 80,", 'value = "eighty",', "value 'eighty' is not a number; write"),
    ("code", "value = 80,", "value = \"__import__('os')\",", "is not a number; write"),
    ("empty", "value = 80,", 'value = "",', "value '' is not a number; write"),
    ("by zero", "value = 80,", 'value = "1/0",', "is not a number; write"),
    ("huge", "value = 80,", "value = 1e300,", "outside 1e-30 to 1e30; check"),
    ("monstrous", "value = 80,", "value = 1e999999999,", "is not a number; write"),
    ("hexadecimal", "value = 80,", f"value = 0x{'f' * 1500},", "outside 1e-30 to 1e30; check"),
    ("long integer", "value = 80,", f"value = {'9' * 1500},", "outside 1e-30 to 1e30"),
    ("tiny", "value = 80,", "value = 1e-300,", "outside 1e-30 to 1e30; check"),
    ("long text", "value = 80,", f'value = "{"9" * 90}",', "value is too long; write"),
    ("unlimited memory", "value = 80,", 'value = "unlimited",', "cannot be unlimited; only"),
    ("unlimited latency", "value = 2,", 'value = "unlimited",', "cannot be unlimited; only"),
    # Keys.
    ("unknown key", "memory_capacity", "memory_capcity", "did you mean memory_capacity"),
    ("unknown key of a figure", "value = 80,", "valeu = 80,",
     "memory_capacity: unknown key 'valeu'; did you mean value"),
    ("unknown key of a tier", "size = 8", "sizes = 8", "tier 1: unknown key 'sizes'; did you mean"),
    ("key of two lines", "title =", '"a\\nb" =', "unknown key 'a\\nb'"),
    ("no capacity", CAPACITY, "", "has no memory_capacity; add memory_capacity = "),
    ("no memory bandwidth", MEMORY, "", 'has no memory_bandwidth; add memory_bandwidth = '),
    ("no rate", RATE, "", "has no arithmetic rate; add flop_rate = { value"),
    ("two rates", RATE, RATE + "\n" + RATE.replace("flop_rate", "flop_per_clock_per_thread")
     .replace("TFLOP/s", "FLOP"), "has both flop_rate and flop_per_clock_per_thread; keep one"),
    ("half a rate", RATE, RATE.replace("flop_rate", "flop_per_clock_per_thread")
     .replace("TFLOP/s", "FLOP"), "has no threads_per_multiprocessor; add"),
    ("a number, no table", CAPACITY, "memory_capacity = 80",
     'memory_capacity: is not a table; write { value = ..., unit = "GB", source = "..." }'),
    ("title of a number", '"Our device"', "8", "title is not a text; write"),
    ("empty title", '"Our device"', '""', "title is not a text; write"),
    # When it came out.
    ("no vendor", "title =", 'released = { value = 2020, source = "bench" }\ntitle =',
     'has released but no vendor; add vendor = "..."'),
    ("a number as vendor", "title =", "vendor = 1\ntitle =", "vendor is not a text; write"),
    ("a bare year", "title =", 'vendor = "We"\nreleased = 2020\ntitle =',
     "released: is not a table; write { value = 2020"),
    ("half a year", "title =", 'vendor = "We"\nreleased = { value = 2020.5, source = "bench" }\n'
     "title =", "released: value is no year; write"),
    ("a short year", "title =", 'vendor = "We"\nreleased = { value = 20, source = "bench" }\n'
     "title =", "released: value is no year; write"),
    ("a true year", "title =", 'vendor = "We"\nreleased = { value = true, source = "bench" }\n'
     "title =", "released: value is no year; write"),
    ("a year without source", "title =", 'vendor = "We"\nreleased = { value = 2020 }\ntitle =',
     "released: has no source; add"),
    ("a year with a unit", "title =", 'vendor = "We"\nreleased = { value = 2020, unit = "1", '
     'source = "bench" }\ntitle =', "released: unknown key 'unit'"),
    # Flags, counts, fractions.
    ("flag of one", "title =",
     'distributed_shared_memory = { value = 1, source = "bench" }\ntitle =',
     "distributed_shared_memory: value is neither true nor false; write"),
    ("flag without source", "title =", "distributed_shared_memory = { value = true }\ntitle =",
     "distributed_shared_memory: has no source; add"),
    ("bare flag", "title =", "distributed_shared_memory = true\ntitle =", "is not a table; write"),
    ("flag with a unit", "title =", 'distributed_shared_memory = { value = true, unit = "1", '
     'source = "bench" }\ntitle =', "unknown key 'unit'"),
    ("half a multiprocessor", "title =",
     'multiprocessors = { value = 1.5, unit = "1", source = "bench" }\ntitle =', "whole number"),
    ("more than all", "title =",
     'sustained_fraction = { value = 70, unit = "1", source = "bench" }\ntitle =', "is above 1"),
    # Tiers.
    ("no size", NODE_SIZE, 'name = "node"', "tier 1 (node): has no usable size; write"),
    ("size of the rest", "size = 8", 'size = "rest"', "tier 1 (node): has no usable size; write"),
    ("size of one", "size = 8", "size = 1", "has no usable size"),
    ("true size", "size = 8", "size = true", "has no usable size"),
    ("half a size", "size = 8", "size = 8.5", "has no usable size"),
    ("size beyond reason", "size = 8", "size = 10000000000", "has no usable size"),
    ("size of the outermost", CLUSTER, CLUSTER + "\nsize = 4", 'is outermost and has a size'),
    ("no name", NODE_SIZE, "size = 8", 'tier 1: has no usable name; write name = "node"'),
    ("tier named device", '"node"', '"device"', "tier 1: has no usable name; write"),
    ("odd name", '"node"', '"No de"', "tier 1: has no usable name; write"),
    ("two of one name", '"cluster"', '"node"', "two tiers have one name; give"),
    ("source of a size", "size = 8", 'size = 8\nsource = "x"', "says too little"),
    ("figure below the tiers", CLUSTER, CLUSTER + '\nclock = { value = 1, unit = "GHz", '
     'source = "bench" }', "clock is a figure of the device; put it above the first [[tier]]"),
    ("tier as a text", "title =", 'tier = "node"\ntitle =', "is not valid TOML"),
    ("tiers without a base", "title =", 'without_tiers = ["node"]\ntitle =', "unknown tier 'node'"),
    # Bases.
    ("unknown base", "title =", 'base = "h100-smx"\ntitle =', "unknown base 'h100-smx'; did you"),
    ("file as a base", "title =", 'base = "mine.toml"\ntitle =', "unknown base 'mine.toml'"),
    ("number as a base", "title =", "base = 1\ntitle =", "base is not a text; write"),
    ("no reason", "title =", 'base = "h100-sxm"\ntitle =', "has a base but no reason; add reason"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_a_rule(load: Load, old: str, new: str, message: str) -> None:
    assert message in refused(load, changed(old, new))


BAD_WHAT_IFS = [
    ("a tier forgotten", '[[tier]]\nname = "node"\n', "", "does not list tier node of its base"),
    ("a tier twice over", "reason", 'without_tiers = ["node"]\nreason', "both listed and left out"),
    ("no such tier", "reason", 'without_tiers = ["rack"]\nreason', "without_tiers: unknown tier"),
    ("not a list", "reason", 'without_tiers = "node"\nreason', "without_tiers is not a list"),
    ("not of names", "reason", "without_tiers = [1]\nreason", "without_tiers is not a list"),
    ("node outermost", WHAT_IF.partition("reason")[2],
     ' = "x"\nwithout_tiers = ["cluster"]\n[[tier]]\nname = "node"\n', "is outermost and has a"),
    ("no tiers left", WHAT_IF.partition("reason")[2],
     ' = "x"\nwithout_tiers = ["node", "cluster"]\n', "has no [[tier]]; add"),
    ("no tiers at all", WHAT_IF.partition("reason")[2], ' = "x"\ntier = []\n', "is not a list of"),
    ("a new tier without a link", '[[tier]]\nname = "cluster"',
     '[[tier]]\nname = "pod"\nsize = 4\n[[tier]]\nname = "cluster"', "(pod): has no bandwidth"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"), [row[1:] for row in BAD_WHAT_IFS], ids=[r[0] for r in BAD_WHAT_IFS]
)
def test_a_rule_of_what_ifs(load: Load, old: str, new: str, message: str) -> None:
    assert message in refused(load, changed(old, new, WHAT_IF))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "has no arithmetic rate; add"),
        (b"title = ", "is not valid TOML"),
        (b"title = 'a'\ntitle = 'b'", "is not valid TOML"),
        (b"\xff\xfe\x00", "is not UTF-8 text; save it as UTF-8"),
        (b"a = 1 \x00", "is not valid TOML"),
        (b"#" * 100_001, "is larger than 100 kB; keep"),
        (b"a = " + b"[\n" * 40_000, "is nested too deeply"),
        (b"tier = [" + b"1," * 100 + b"]", ""),
        (b"memory_capacity" + b".a" * 20_000 + b" = 1", "has a line of more than 2000"),
        (b"memory_capacity" + b".a" * 900 + b" = 1", "memory_capacity: unknown key 'a'"),
        (b"x" * 1_900 + b" = 1", "unknown key"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else "",
)
def test_a_file_that_is_no_machine(load: Load, text: bytes, message: str) -> None:
    assert message in refused(load, text)


@pytest.mark.parametrize("end", range(0, len(GOOD), 7))
def test_a_file_that_breaks_off_never_crashes(load: Load, end: int) -> None:
    if not GOOD[end:].startswith("[[tier]]"):
        refused(load, GOOD[:end])


# Presets that are wrong


@pytest.fixture
def presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in place of the presets that ship."""
    monkeypatch.setattr(loader, "_PRESETS", tmp_path)
    loader._preset.cache_clear()
    yield tmp_path
    loader._preset.cache_clear()


def known_sources(text: str) -> str:
    return text.replace('"bench"', '"nvidia-h100-datasheet"')


def test_a_preset_needs_a_key_as_its_source(presets: Path) -> None:
    (presets / "ours.toml").write_text(known_sources(GOOD))
    assert load_machine("ours").title == "Our device"
    wrong = known_sources(GOOD).replace("h100-datasheet", "h100-sheet")
    (presets / "theirs.toml").write_text(wrong)
    with pytest.raises(UnknownNameError, match=r"^hardware/theirs.toml: .*nvidia-h100-datasheet"):
        load_machine("theirs")


def test_a_circle_of_bases(presets: Path) -> None:
    for name, base in (("a", "b"), ("b", "c"), ("c", "a")):
        (presets / f"{name}.toml").write_text(f'base = "{base}"\nreason = "a circle"\n')
    with pytest.raises(InputError, match=r"hardware/c.toml: base a leads back to itself; base it"):
        load_machine("a")


def test_a_machine_that_is_its_own_base(presets: Path) -> None:
    (presets / "a.toml").write_text('base = "a"\nreason = "a circle"\n')
    with pytest.raises(InputError, match="base a leads back to itself"):
        load_machine("a")


def test_a_long_chain_of_bases(presets: Path) -> None:
    (presets / "m0.toml").write_text(known_sources(GOOD))
    for i in range(1, 7):
        (presets / f"m{i}.toml").write_text(f'base = "m{i - 1}"\nreason = "one further"\n')
    assert load_machine("m4").title == "m4"
    assert load_machine("m4").flop_rate == load_machine("m0").flop_rate
    with pytest.raises(InputError, match="is too far down a chain; state"):
        load_machine("m6")
