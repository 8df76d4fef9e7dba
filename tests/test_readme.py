"""What the README shows is what the program prints."""

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from commands import run
from places import ROOT
from symscale.facts.machines.reader import load_machine
from symscale.facts.models.huggingface import FAMILIES
from symscale.facts.models.model_file import MODEL_KEYS
from symscale.facts.models.zoo import load_model
from symscale.pages.formats import text
from symscale.pages.of.limits import limits_document
from symscale.studies.training.answer import training_limits

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_first_screen_is_the_true_output() -> None:
    command, shown = re.search(  # type: ignore[union-attr]
        r"^    pip install \. && (symscale .*)\n\n```text\n(.*?)\n\.\.\.\n```", README, re.M | re.S
    ).groups()
    assert command == "symscale limits --hardware h100-sxm"
    printed = text.render(limits_document(training_limits("h100-sxm")), width=80)
    assert len(shown.splitlines()) > 30
    assert printed.startswith(shown + "\n")


def test_the_test_command_is_there() -> None:
    assert "\npip install '.[test]' && pytest\n" in README


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("index", [0, 1])
def test_hardware_files_of_the_documentation_load(index: int, tmp_path: Path) -> None:
    blocks = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / "hardware.md").read_text(encoding="utf-8"), re.S
    )
    assert len(blocks) == 2
    file = tmp_path / "mine.toml"
    file.write_text(blocks[index], encoding="utf-8")
    machine = load_machine(str(file))
    assert machine.levels()[0] == "device"
    assert training_limits(str(file)).ruling is not None


def test_the_model_file_of_the_documentation_loads(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    file = tmp_path / "mine.toml"
    file.write_text(block, encoding="utf-8")
    assert load_model(str(file)).layers == 32


def test_the_page_on_models_names_every_key_and_family() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:\[\[)?(\w+)(?:\]\])?`", page)) | {"title", "source", "note"}
    named |= {"query_rank", "kv_rank", "rotary_width"}
    assert {*MODEL_KEYS, *FAMILIES} <= named


def placeholder(word: str) -> bool:
    """Whether a word of a command stands for something of the reader's own."""
    if word in ("check", "mine.toml") or word.startswith("NAME="):
        return True
    names = ("FILE", "NAME", "RATIO", "MODEL", "COMMAND")
    return word in names or word.endswith(("FILE.toml", "proof.json"))


def commands() -> list[tuple[str, ...]]:
    """Every command that the documentation shows, those with a placeholder apart."""
    found = set()
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = re.findall(r"^    (symscale .*)$", text, re.M) + re.findall(
            r"`(symscale [^`\n]*)`", text
        )
        for line in lines:
            words = tuple(shlex.split(line, comments=True))[1:]
            if words and not any(map(placeholder, words)):
                found.add(words)
    return sorted(found)


@pytest.mark.usefixtures("drawn_here")
@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands_of_the_documentation_run(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "docs" / "problems", tmp_path / "docs" / "problems")
    shutil.copy(ROOT / "tests" / "data" / "configs" / "gpt2.json", tmp_path / "config.json")
    shutil.copy(ROOT / "tests/data/paper-code/plan-times.csv", tmp_path / "plans.csv")
    shutil.copytree(ROOT / "docs" / "calibration", tmp_path / "docs" / "calibration")
    for file in (ROOT / "docs" / "calibration").iterdir():
        shutil.copy(file, tmp_path / file.name)
    shutil.copy(ROOT / "symscale/measure/runs/clusters/a100.toml", tmp_path / "myclass.toml")
    for option, word in pairwise(command):
        if option in ("-o", "--calibrate"):  # one command's result is the next one's example
            (tmp_path / word).unlink(missing_ok=True)
    if command[0] == "profile":
        command = (*command, "--budget", "1s", "--library", "numpy")
    published = ROOT / "symscale/measure/runs/published/vtrain-a100.csv"
    shutil.copy(published, tmp_path / "my-runs.csv")
    monkeypatch.chdir(tmp_path)
    done = run(*command)
    assert (done.code, done.err) == (0, ""), done.err
    assert done.out or "-o" in command
