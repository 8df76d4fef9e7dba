"""Files of measurements: every format, and every way in which one can be wrong."""

import random
import re
from pathlib import Path

import pytest

from commands import run
from places import ROOT
from sampling import sample
from symscale.errors import SymscaleError
from symscale.measure.operators.collectives import ALL_REDUCE
from symscale.measure.operators.fitting import judge
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.products import MATRIX_PRODUCT
from symscale.measure.readers.csv_files import read_csv
from symscale.measure.readers.files import read_measurements
from symscale.measure.readers.json_files import read_json
from symscale.measure.readers.nccl import read_nccl
from symscale.measure.readers.reading import Options

DATA = ROOT / "tests" / "data" / "measurements"
DOCS = ROOT / "docs" / "calibration"
NCCL = (DOCS / "nccl-all-reduce.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "operator", "bandwidth", "latency"),
    [
        (DOCS / "nccl-all-reduce.log", "all-reduce", 370e9, 22e-6),
        (DATA / "nccl-all-gather-2-nodes.log", "all-gather", 46e9, 28e-6),
        (DATA / "nccl-reduce-scatter.log", "reduce-scatter", 365e9, 12e-6),
        (DATA / "nccl-alltoall.log", "all-to-all", 340e9, 15e-6),
        (DATA / "nccl-sendrecv.log", "point-to-point", 350e9, 10e-6),
        (DATA / "rccl-all-reduce-mi300x.log", "all-reduce", 310e9, 40e-6),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else None,
)
@pytest.mark.parametrize("in_place", [False, True])
def test_collectives_are_found_as_they_were_made(
    file: Path, operator: str, bandwidth: float, latency: float, in_place: bool
) -> None:
    found = read_measurements(str(file), Options(in_place=in_place)).measurements
    assert {one.operator.name for one in found} == {operator}
    assert {one.place for one in found} == {"in-place" if in_place else "out-of-place"}
    model = judge(found).model
    assert model.bandwidth_bytes == pytest.approx(bandwidth, rel=0.03)
    assert model.latency_s == pytest.approx(latency, rel=0.1)
    # The truth lies within four standard errors, of which nobody told the fit.
    for index, true in ((1, 1 / bandwidth), (2, latency)):
        error = (model.covariance[index][index]) ** 0.5
        assert abs(model.parameters[index] - true) < 4 * error


def test_places_differ() -> None:
    out = read_measurements(str(DOCS / "nccl-all-reduce.log")).measurements
    inside = read_measurements(str(DOCS / "nccl-all-reduce.log"), Options(in_place=True))
    assert out[0].seconds == pytest.approx(22.88e-6)
    assert inside.measurements[0].seconds == pytest.approx(22.96e-6)


def test_hosts_and_devices_are_counted() -> None:
    two = read_measurements(str(DATA / "nccl-all-gather-2-nodes.log"))
    assert (two.measurements[0].sizes["devices"], two.hosts[0]) == (16, 2)
    assert two.facts.device == "NVIDIA H100 80GB HBM3"


def test_two_runs_in_one_log() -> None:
    other = (DATA / "nccl-reduce-scatter.log").read_text(encoding="utf-8")
    found = read_nccl("both.log", (NCCL + other).split("\n"), Options())
    assert {one.operator.name for one in found.measurements} == {"all-reduce", "reduce-scatter"}


def test_products_are_found_as_they_were_made() -> None:
    found = read_measurements(str(DATA / "rocblas-bench.log"), Options(word_bytes=2))
    assert found.facts.device == "AMD Instinct MI210"
    model = judge(found.measurements).model
    assert model.rate_flop == pytest.approx(120e12, rel=0.03)
    assert model.latency_s == pytest.approx(8e-6, rel=0.1)
    batched = read_measurements(str(DATA / "hipblaslt-bench.log")).measurements
    assert [one.operator.name for one in batched].count("batched product") == 3
    flat = judge([one for one in batched if one.operator.name == "matrix product"]).model
    assert flat.rate_flop == pytest.approx(500e12, rel=1e-3)
    deep = read_measurements(str(DATA / "deepbench.txt")).measurements
    assert (deep[2].sizes["m"], deep[2].word_bytes, deep[2].seconds) == (4096, 4, 0.01808)


def test_tables_of_torch() -> None:
    found = read_measurements(str(DATA / "torch-profiler.csv"), Options(word_bytes=2))
    first = found.measurements[0]
    assert (first.operator.name, dict(first.sizes)) == (
        "matrix product", {"m": 2048, "n": 4096, "k": 1024, "batch": 1}
    )
    assert first.seconds == pytest.approx(88.5e-6)  # on the device, not on the host
    norms = [one for one in found.measurements if one.operator.name == "layer norm"]
    assert [one.sizes["tokens"] for one in norms] == [2048, 4096, 8192]
    timed = read_measurements(str(DATA / "torch-benchmark.csv")).measurements
    assert [one.word_bytes for one in timed] == [4, 4, 4, 4]
    assert dict(timed[2].sizes) == {"m": 2048, "n": 2048, "k": 2048, "batch": 1}


def test_busbw_and_algbw_are_told_apart() -> None:
    found = read_measurements(str(DATA / "own.csv")).measurements
    gathers = [one for one in found if one.operator.name == "all-gather"]
    # busbw = 3/4 S/t for four devices.
    assert gathers[0].seconds == pytest.approx(0.75 * 2**20 / 20e9)
    assert gathers[1].seconds == pytest.approx(78.6e-6)
    head = "operator,size_MiB,devices,{} (GB/s)"
    for name, seconds in (("algbw", 2**20 / 5e9), ("busbw", 1.5 * 2**20 / 5e9)):
        rows = [head.format(name), "all-reduce,1,4,5"]
        assert read_csv("x", rows, Options()).measurements[0].seconds == pytest.approx(seconds)


def log(change: str, to: str, count: int = 1) -> list[str]:
    assert change in NCCL, change
    return NCCL.replace(change, to, count).split("\n")


FIRST = next(line for line in NCCL.split("\n") if line.lstrip().startswith("65536"))
UNITS = "(us)  (GB/s)  (GB/s)            (us)"
BAD_LOGS = {
    "cut in a line": (NCCL[: NCCL.index("sum", 3000)].split("\n"), "line 33: the log ends"),
    "cut after a line": (NCCL.split("\n")[:25], "line 25: the log ends"),
    "cut in its head": (NCCL.split("\n")[:14], "line 14: the log ends"),
    "only ranks": (NCCL.split("\n")[:8], "line 8: the log ends"),
    "a short line": (log(FIRST, FIRST[:60]), "line 18: has 6 of 13 columns"),
    "decimal commas": (log("22.88", "22,88"), "line 18: '22,88' has a decimal comma"),
    "a zero time": (log("22.88", "0.00"), "line 18: a time of 0 s is not above zero"),
    "a negative time": (log("22.88", "-22.88"), "line 18: a time of -2.288e-05 s"),
    "no number": (log("22.88", "fast"), "line 18: 'fast' is not a number"),
    "a unit in a line": (log("22.88", "22.88us"), "line 18: '22.88us' is not a number"),
    "mixed units": (log("(us)", "(ms)"), "line 17: units are mixed"),
    "other units": (log(UNITS, UNITS.replace("us", "ms")), "line 18: algbw 2.86 is not size over"),
    "no units": (log("(B)    (elements)", "x", 1)[:16] + log("x", "x")[17:], "the line with the"),
    "sizes in MB": (log("(B) ", "(MB)"), "line 17: sizes in MB"),
    "swapped bandwidths": (log("2.86    5.01", "5.01    2.86"), "line 18: algbw 5.01 is not"),
    "another collective": (
        NCCL.replace("all_reduce", "all_gather").split("\n"), "line 18: busbw 5.01 is not that of"
    ),
    "broadcast": (NCCL.replace("all_reduce", "broadcast").split("\n"), "broadcast has no operator"),
    "missing rank": (log("#  Rank  3", "#  Rang  3"), "lines '# Rank' are missing"),
    "wrong values": (log("5.01      0", "5.01      7"), "line 18: 7 values came out wrong"),
    "failed": (log(": 0 OK", ": 7 FAILED"), "line 36: the run computed wrong values"),
}


@pytest.mark.parametrize("name", BAD_LOGS)
def test_bad_logs_name_line_and_reason(name: str) -> None:
    lines, text = BAD_LOGS[name]
    with pytest.raises(SymscaleError, match=re.escape(text)):
        read_nccl("a.log", lines, Options())


def test_what_a_log_does_not_say_is_asked_for() -> None:
    nameless = NCCL.replace("all_reduce_perf", "bench").split("\n")
    with pytest.raises(SymscaleError, match="--operator"):
        read_nccl("a.log", nameless, Options())
    assert read_nccl("a.log", nameless, Options(operator=ALL_REDUCE)).measurements
    assert read_nccl("all-reduce.log", nameless, Options()).measurements
    single = [line for line in NCCL.split("\n") if "Rank" not in line]
    with pytest.raises(SymscaleError, match="--devices"):
        read_nccl("a.log", single, Options())
    assert read_nccl("a.log", single, Options(devices=8)).measurements
    with pytest.raises(SymscaleError, match="busbw"):
        read_nccl("a.log", single, Options(devices=4))
    with pytest.raises(SymscaleError, match="8 ranks, --devices says 4"):
        read_nccl("a.log", NCCL.split("\n"), Options(devices=4))


HEAD = "m,n,k,dtype,time_us"
BAD_TABLES = {
    "decimal comma": (["m;n;k;dtype;us", "64;64;64;fp32;12,5"], "line 2: '12,5' has a decimal"),
    "decimal comma among commas": ([HEAD, "64,64,64,fp32,12,5"], "line 2: has 6 columns, the"),
    "cut": ([HEAD, "64,64,64,fp32,12", "128,128,1"], "line 3: has 3 columns, the header 5"),
    "cut in quotes": ([HEAD, '64,64,64,"fp32'], "line 2: a quotation mark is not closed"),
    "no rows": ([HEAD], "line 1: no result follows"),
    "zero": ([HEAD, "64,64,64,fp32,0"], "line 2: a time of 0 s is not above zero"),
    "negative": ([HEAD, "64,64,64,fp32,-3"], "line 2: a time of -3e-06 s is not above zero"),
    "not finite": ([HEAD, "64,64,64,fp32,nan"], "line 2: 'nan' is not a number"),
    "huge": ([HEAD, "64,64,64,fp32,1e999"], "line 2: '1e999' is beyond all numbers"),
    "no count": ([HEAD, "64,0,64,fp32,3"], "line 2: 0 is no count"),
    "a part": ([HEAD, "64,6.5,64,fp32,3"], "line 2: 6.5 is no count"),
    "mixed units": (["m,n,k,dtype,time_us", "64,64,64,fp32,3ms"], "line 2: '3ms' is in ms"),
    "no unit": (["m,n,k,dtype,time", "64,64,64,fp32,3"], "line 2: '3' has no unit"),
    "units now and then": (
        ["m,n,k,dtype,time", "64,64,64,fp32,3us", "128,64,64,fp32,4"], "line 3: '4' has no unit"
    ),
    "wrong unit": (["m,n,k,dtype,time (GB)", "64,64,64,fp32,3"], "line 1: 'GB' is no unit of time"),
    "no type": (["m,n,k,us", "64,64,64,3"], "line 2: nothing says how many bytes a word has"),
    "unknown type": ([HEAD, "64,64,64,fp33,3"], "line 2: the type 'fp33' is unknown"),
    "rate against time": (
        ["m,n,k,dtype,us,GFLOPS", "64,64,64,fp32,3,999"], "line 2: time says 3e-06 s, rate says"
    ),
    "a bandwidth": (
        ["operator,size_bytes,devices,bandwidth (GB/s)", "all-reduce,8,4,5"],
        "line 2: bandwidth may be size over time",
    ),
    "one device": (
        ["operator,size_bytes,devices,us", "all-reduce,8,1,5"], "all-reduce over 1 device sends"
    ),
    "no operator": (["size_bytes,devices,us", "8,4,5"], "line 2: does not say which operator"),
    "unknown operator": (
        ["operator,size_bytes,devices,us", "all-redux,8,4,5"], "line 2: unknown operator"
    ),
    "no table": (["hello", "world"], "line 1: no header"),
    "a column twice": (["m,n,k,dtype,us,ms", "1,1,1,fp32,1,1"], "columns 'us' and 'ms' say"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables_name_line_and_reason(name: str) -> None:
    lines, text = BAD_TABLES[name]
    with pytest.raises(SymscaleError, match=re.escape(text)):
        read_csv("a.csv", lines, Options())


ENTRY = '{"operator": "matrix product", "m": 8, "n": 8, "k": 8, "word_bytes": 4, "seconds": 0.5}'
BAD_JSON = {
    "format": ('"symscale measurements 1"', '"another"', "is not of the format"),
    "operator": ('"matrix product"', '"matrix prayer"', "measurement 1: unknown operator"),
    "no operator": ('"matrix product"', "7", "measurement 1: has no operator"),
    "negative": ("0.5", "-0.5", "measurement 1: a time of -0.5 s is not above zero"),
    "zero": ("0.5", "0", "measurement 1: a time of 0 s is not above zero"),
    "a text": ("0.5", '"0,5"', "measurement 1: '0,5' is not a number"),
    "a part of a size": ('"m": 8', '"m": 8.5', "measurement 1: m is no count"),
    "no size": ('"m": 8, ', "", "measurement 1: matrix product needs m"),
    "a key": ('"m": 8', '"mm": 8', "measurement 1: unknown key 'mm'"),
    "twice": ('"m": 8', '"m": 8, "m": 9', "has the key 'm' twice"),
    "cut": ("0.5}", "0.", "is not valid JSON"),
    "no seconds": (', "seconds": 0.5', "", "measurement 1: has no seconds"),
    "no word": (', "word_bytes": 4', "", "measurement 1: word_bytes is no count"),
    "infinite": ("0.5", "Infinity", "Infinity is no number of JSON"),
    "nested": ("0.5", "[" * 40 + "]" * 40, "is nested too deeply"),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_json_names_entry_and_reason(name: str) -> None:
    old, new, text = BAD_JSON[name]
    whole = f'{{"format": "symscale measurements 1", "measurements": [{ENTRY}]}}'
    assert read_json("a", whole.encode()).measurements[0].seconds == 0.5
    assert old in whole
    with pytest.raises(SymscaleError, match=re.escape(text)):
        read_json("a", whole.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    "head", ["M,N,K,dtype,TFLOPS", "m,n,k,precision,throughput (TFLOP/s)", "m,n,k,type,duration_us",
             "M;N;K;a_type;avg_time_ms", "m\tn\tk\tdtype\tus"],
)
def test_headings_that_say_the_same(head: str) -> None:
    mark = next(mark for mark in ",;\t" if mark in head)
    value = "2" if "FLOP" in head.upper() else "0.001" if "ms" in head else "1"
    row = mark.join(["1000", "1000", "1", "bf16", value])
    (found,) = read_csv("a", [head, row], Options()).measurements
    assert found.seconds == pytest.approx(1e-6)
    assert found.word_bytes == 2


def product(m: int, seconds: float, line: int) -> Measurement:
    sizes = {"m": m, "n": 64, "k": 64, "batch": 1}
    return Measurement(MATRIX_PRODUCT, sizes, 4, seconds, f"a.csv: line {line}")


def test_measurements_that_contradict_each_other() -> None:
    with pytest.raises(SymscaleError, match=r"line 2: .* has a single size"):
        judge([product(64, 1e-6, 2)])
    with pytest.raises(SymscaleError, match=r"line 2: .* has 2 sizes"):
        judge([product(64, 1e-6, 2), product(128, 2e-6, 3)])
    rising = [product(64 * 2**i, 1e-6 * 2**i, i) for i in range(5)]
    with pytest.raises(SymscaleError, match=r"line 9: .* stands twice, before in a.csv: line 3"):
        judge([*rising, product(512, 9e-6, 9)])
    with pytest.raises(SymscaleError, match=r"line 9: .* less than half .*\(a.csv: line 4\)"):
        judge([*rising, product(2048, 7e-6, 9)])
    judge([*rising, product(2048, 12e-6, 9)])  # noise


def test_refusals_end_with_code_2(tmp_path: Path) -> None:
    for name, text in (("log", "\n".join(BAD_LOGS["cut after a line"][0])),
                       ("csv", "\n".join(BAD_TABLES["decimal comma"][0])),
                       ("json", '{"format": "symscale measurements 1", "measurements": []}'),
                       ("txt", ""), ("csv", HEAD + "\n64,64,64,fp32,3\n")):
        file = tmp_path / f"a.{name}"
        file.write_text(text, encoding="utf-8")
        done = run("fit", str(file))
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
        assert done.err.startswith("symscale: a."), done.err
    file.write_bytes(b"m,n\n\xff\xfe")
    assert "line 2: is not UTF-8" in run("fit", str(file)).err
    assert "no such file" in run("fit", str(tmp_path / "none.csv")).err
    assert run("fit", str(file), str(file)).code == 2


@pytest.mark.parametrize("seed", sample(40).seeds)
def test_damaged_files_end_in_one_line(seed: int) -> None:
    """No damage leads to anything but a refusal of one line, or a reading."""
    rng = random.Random(seed)
    refused = []
    for file in (DOCS / "nccl-all-reduce.log", DATA / "torch-profiler.csv", DATA / "own.csv",
                 DATA / "hipblaslt-bench.log", DATA / "deepbench.txt"):
        text = list(file.read_text(encoding="utf-8"))
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(text))
            text[place : place + rng.choice((0, 1, 40))] = rng.choice(
                ("", ",", ";", "-", "0", "1e99", "\n", "#", '"', "\x00", "²", "nan", " ", "[" * 50)
            )
        lines = "".join(text).split("\n")
        read = read_nccl if file.suffix == ".log" and "nccl" in file.name else read_csv
        try:
            found = read("a", lines, Options(word_bytes=2)).measurements
            assert all(one.seconds > 0 for one in found)
        except SymscaleError as error:
            refused.append(str(error))
    assert all(text.isprintable() for text in refused), refused
