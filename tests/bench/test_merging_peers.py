"""The bench of other merge tools' examples, on a repository that is laid out like theirs."""

from pathlib import Path

import pytest
from bench.merging import peers, telling_peers
from bench.merging.repository import Repository
from tests.bench.merging_data import git, write

BASE = "import os\n\n\ndef a():\n    return 1\n"
OURS = BASE.replace("import os\n", "import os\nimport sys\n")
THEIRS = BASE.replace("return 1", "return 2")
BOTH = OURS.replace("return 1", "return 2")
MARKED = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
LATER = OURS.replace("sys", "abc")


def versions(folder: str, suffix: str, texts: tuple[str, str, str, str], names: str) -> dict[str, str]:
    return {f"{folder}/{name}{suffix}": text for name, text in zip(names.split(), texts, strict=True)}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, peers.Outcome]:
    folder = tmp_path_factory.mktemp("rival")
    git(folder, "init", "--quiet")
    usual = "Base Left Right Expected"
    files = {
        **versions("right", ".py", (BASE, OURS, THEIRS, BOTH), usual),
        **versions("wrong", ".py", (BASE, OURS, THEIRS, BASE), usual),
        **versions("order", ".py", (BASE, OURS, LATER, BASE.replace("os", "os\nimport sys\nimport abc", 1)), usual),
        **versions("conflict", ".py", (BASE, OURS, THEIRS, MARKED), usual),
        **versions("refused", ".py", (BASE, BASE.replace("1", "3"), THEIRS, "def a():\n    return 4\n"), usual),
        **versions("ab12_module.py", "", (BASE, OURS, THEIRS, BOTH), "base ours theirs human"),
        **versions("named", "", ("a\n", "a\nb\n", "a\n", "a\nb\n"), usual),
        "named/language": "requirements.txt\n",
        "incomplete/Base.py": BASE,
    }
    write(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "examples")
    found = peers.measure([Repository(folder)], processes=1)
    return {each.example.name.partition(":")[2]: each for each in found}


def test_an_answer_is_compared_with_the_expected_text(outcomes: dict[str, peers.Outcome]) -> None:
    assert {name: each.kind for name, each in outcomes.items()} == {
        "ab12_module.py": "expected",
        "conflict": "PROVEN",
        "named": "expected",
        "order": "reordered",
        "refused": "refused",
        "right": "expected",
        "wrong": "otherwise",
    }


def test_an_example_has_the_path_that_its_language_is_known_by(outcomes: dict[str, peers.Outcome]) -> None:
    paths = {name: each.example.path for name, each in outcomes.items()}
    assert paths["ab12_module.py"] == "ab12_module.py"
    assert paths["named"] == "requirements.txt"
    assert not outcomes["named"].example.is_structured
    assert outcomes["right"].example.is_structured


def test_the_tables_name_what_is_proven_against_expectation(
    outcomes: dict[str, peers.Outcome], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    telling_peers.write(tmp_path / "peers.jsonl", outcomes.values())
    telling_peers.tell(list(outcomes.values()))
    printed = capsys.readouterr().out
    assert "proven otherwise: 1\n" in printed
    assert "proven where a conflict is expected: 1\n" in printed
    assert len((tmp_path / "peers.jsonl").read_text().splitlines()) == len(outcomes)
