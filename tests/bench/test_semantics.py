"""The bench of admission across files, from end to end, on a small project of its own."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.merging.repository import Repository
from bench.merging.suites import Outcome
from bench.semantics import conflicts, pairs, projects, replays, verdicts
from bench.semantics.mutants import Kind, Mutant, mutants
from bench.semantics.mutations import Limits
from bench.semantics.replays import trials
from bench.semantics.truth import Suites, frames
from bench.semantics.typed import Typed
from bench.semantics.verdicts import Admission, Level
from tests.bench import semantics_data
from tests.bench.semantics_data import BILLS, FILES, HISTORY, PRICES, Data

from commonhold.code.analysis.evidence import Evidence

ROOT = Path(__file__).parents[2]
TREE = {path: text.encode() for path, text in FILES.items()}
PRICES_PATH, BILLS_PATH, TESTS_PATH = "src/shop/prices.py", "src/shop/bills.py", "tests/test_shop.py"
EVERY = dict.fromkeys(Kind, 10**6)
METHODS = """class Base:
    @property
    def size(self): return 1
    def put(self, one, *rest, last=None, **more): return one
    def take(self, one, two=1, three=3): yield one
class Heir(Base, dict):
    def put(self, one): return one
    async def wait(self): return 1
    def __len__(self): return 2
    def none(): pass
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return semantics_data.make(tmp_path_factory.mktemp("data"))


def run(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "bench.semantics", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def changed(path: str, old: str, new: str) -> dict[str, bytes | None]:
    assert old in FILES[path]
    return {path: FILES[path].replace(old, new).encode()}


@pytest.mark.slow
def test_mutants_are_held_to_the_suite(data: Data, tmp_path: Path) -> None:
    given = ("--repos", data.project, "--projects", "shop", "--python", sys.executable, "--no-types")
    git_head = ("--work", tmp_path / "work", "--out", tmp_path / "out", "--mutants", "11", "--parts", "mutations")
    broken = subprocess.run(
        [sys.executable, "-m", "bench.semantics", *map(str, (*given, *git_head))],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "the suite of shop fails as it is" in broken.stderr  # its last commit breaks it
    subprocess.run(["git", "reset", "--quiet", "--hard", "HEAD~1"], cwd=data.project, check=True)
    try:
        told = run(*given, *git_head)
    finally:
        subprocess.run(["git", "reset", "--quiet", "--hard", "HEAD@{1}"], cwd=data.project, check=True)
    assert "required parameter added" in told
    found = {each["mutant"]: each for each in results(tmp_path / "out/semantics-mutations.jsonl")}
    price = found[f"{PRICES_PATH}:price: function renamed"]
    assert price["is_breaking"]
    assert price["level"] == Level.BLOCKED
    assert price["by_suite"]
    assert price["by_text"]
    assert not found[f"{PRICES_PATH}:Goods.unused: required parameter added"]["is_breaking"]


@pytest.mark.slow
def test_commits_that_keep_the_suite_green_are_replayed(data: Data, tmp_path: Path) -> None:
    suites = Suites(tmp_path, sys.executable, processes=1, types=False)
    repository = Repository(data.project)
    replayed = replays.measure([repository], suites, commits=4)
    assert len(replayed) == len(HISTORY) - 1  # the last is red, the first has no parent
    assert {each.level for each in replayed} == {Level.ADMITTED}
    assert not any(each.crash for each in replayed)


def test_each_commit_is_tested_as_it_was(data: Data) -> None:
    repository = Repository(data.project)
    (trial,) = trials(repository, [data.first])
    assert trial.changes == {BILLS_PATH: BILLS.encode(), PRICES_PATH: PRICES.encode()}
    assert trial.base[PRICES_PATH] == repository.blobs([f"HEAD:{PRICES_PATH}"])[0]


def test_pairs_are_caught_in_both_orders(data: Data, tmp_path: Path) -> None:
    told = run("--repos", data.project, "--projects", "shop", "--parts", "pairs", "--out", tmp_path)
    assert "the new caller is" in told
    found = results(tmp_path / "semantics-pairs.jsonl")
    assert found
    assert all(each["names_caller"] == [True, True] for each in found)


def test_conflicts_are_given_to_the_check(data: Data, tmp_path: Path) -> None:
    told = run("--repos", data.project, "--conflicts", data.conflicts, "--parts", "conflicts", "--out", tmp_path)
    assert "right: 2 of 2" in told


def test_what_the_check_cannot_do_is_not_taken_for_a_warning() -> None:
    failed = conflicts.Checked("x", is_control=False, outcomes=("failed: x", "escalated"))
    assert not failed.is_right
    assert conflicts.Checked("x", is_control=False, outcomes=("refused", "escalated")).is_right
    assert not conflicts.Checked("x", is_control=True, outcomes=("admitted", "escalated")).is_right


def texts(kind: Kind, source: str = METHODS) -> dict[str, str]:
    """The changed line of every mutant of a kind, by what was changed."""
    found = mutants({"a.py": source.encode()}, EVERY)
    return {each.qualname: _difference(source, each) for each in found if each.kind is kind}


def _difference(source: str, mutant: Mutant) -> str:
    pairs_of_lines = zip(source.splitlines(), mutant.source.decode().splitlines(), strict=True)
    (line,) = [new.strip() for old, new in pairs_of_lines if old != new]
    return line


def test_every_kind_of_mutant() -> None:
    required = texts(Kind.REQUIRED)
    assert required["Base.size"] == "def size(self, commonhold_extra): return 1"
    assert required["Base.put"] == "def put(self, one, *rest, last=None, commonhold_extra, **more): return one"
    assert required["Base.take"] == "def take(self, one, two=1, three=3, *, commonhold_extra): yield one"
    assert required["Heir.none"] == "def none(commonhold_extra): pass"
    assert "Heir.__len__" not in required
    assert texts(Kind.SPECIAL) == {"Heir.__len__": "def __len__(self, commonhold_extra): return 2"}
    assert texts(Kind.RENAMED)["Heir.wait"] == "async def wait_of_commonhold(self): return 1"
    assert texts(Kind.DEFAULT) == {
        "Base.put": "def put(self, one, *rest, last, **more): return one",
        "Base.take": "def take(self, one, two, three=3): yield one",
    }
    assert texts(Kind.REORDERED) == {"Base.take": "def take(self, one, three=3, two=1): yield one"}
    assert texts(Kind.RETURN)["Base.put"].endswith("return [one]")
    assert "Base.take" not in texts(Kind.RETURN)
    assert texts(Kind.OVERRIDE) == {"Heir.put": "def put(self, *, one): return one"}
    bases = [
        _difference(METHODS, each) for each in mutants({"a.py": METHODS.encode()}, EVERY) if each.kind is Kind.BASE
    ]
    assert sorted(bases) == ["class Heir( dict):", "class Heir(Base, ):"]
    assert "Heir.wait" not in texts(Kind.ASYNC)


def test_a_sample_is_the_same_each_time_and_a_larger_one_has_the_smaller() -> None:
    sources = {"a.py": METHODS.encode()}
    few, more = (mutants(sources, {Kind.REQUIRED: count}) for count in (2, 4))
    assert few == more[:2]
    assert mutants(sources, {Kind.REQUIRED: 4}) == more


def test_mutants_are_programs() -> None:
    for mutant in mutants({"a.py": METHODS.encode(), "b.py": PRICES.encode()}, EVERY):
        ast.parse(mutant.source)


def test_limits() -> None:
    chosen = Limits(3, 1, 2).by_kind()
    assert (chosen[Kind.REQUIRED], chosen[Kind.RENAMED], chosen[Kind.SPECIAL], chosen[Kind.ASYNC]) == (3, 3, 1, 2)


def test_a_pair_is_broken_by_construction() -> None:
    made = list(pairs.pairs("shop", {path: TREE[path] for path in (PRICES_PATH, BILLS_PATH)}))
    assert made
    for pair in made:
        assert pair.calling_path != pair.mutant.path
        ast.parse(pair.calling)
        assert pairs.CALLER.encode() in pair.calling


def test_verdicts_say_who_is_concerned() -> None:
    known = Admission(TREE)
    assert known.verdict(changed(PRICES_PATH, "goods.amount * rate", "rate * goods.amount")).level is Level.ADMITTED
    blocked = known.verdict(changed(PRICES_PATH, "def price(goods,", "def price(goods, extra,"))
    assert blocked.level is Level.BLOCKED
    (named,) = blocked.blocking
    assert (named.path, named.qualname, named.evidence) == (BILLS_PATH, "total", Evidence.CONTRACT)
    assert named.line in named.lines
    assert "price(Bread(name))" in named.text
    assert BILLS_PATH in str(named)


def test_who_mends_the_callers_is_admitted() -> None:
    both = changed(PRICES_PATH, "def price(goods,", "def price(goods, extra,")
    both |= changed(BILLS_PATH, "price(Bread(name))", "price(Bread(name), 1)")
    assert Admission(TREE).verdict(both).level is Level.ADMITTED


def test_a_crash_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(verdicts, "examine", fail)
    assert "RuntimeError: no" in Admission(TREE).verdict(changed(PRICES_PATH, "rate=2", "rate=3")).crash


def test_frames_of_a_traceback() -> None:
    said = "tests/test_a.py:3: in test_a\n    f()\nsrc/a.py:12: in f\n    g()\nE   TypeError"
    assert frames(Outcome(passed=False, said=said)) == [("tests/test_a.py", 3), ("src/a.py", 12)]


def test_a_folder_becomes_one_tree_after_the_other() -> None:
    with Typed(sys.executable) as typed:
        typed.holding(TREE)
        assert (typed.folder / BILLS_PATH).read_bytes() == TREE[BILLS_PATH]
        typed.holding({TESTS_PATH: b"x = 1\n"})
        assert not (typed.folder / BILLS_PATH).exists()
        assert (typed.folder / TESTS_PATH).read_bytes() == b"x = 1\n"


def test_the_files_of_a_commit(data: Data) -> None:
    repository = Repository(data.project)
    assert projects.tree(repository, data.first) == TREE
    assert len(projects.changed_commits(repository, 100)) == len(HISTORY)
