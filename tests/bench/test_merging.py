"""The bench of merging, from end to end, on a small project with features of its own."""

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from bench.merging import histories, methods, suites, telling_histories, telling_pairs
from bench.merging.dataset import Dataset, Task
from bench.merging.pairs import Bench, Setting, Tried
from bench.merging.repository import Repository, store
from bench.merging.samples import of_one_function, of_two_functions
from bench.merging.suites import Runner
from tests.bench import merging_data
from tests.bench.merging_data import FEATURES, SHOP, Data

from commonhold.merging.verdict import Candidate, Proven, Reason, Sides, Spot, Unproven

ROOT = Path(__file__).parents[2]
NAME = "shop/task7"
BOTH = SHOP.replace("name.title()", 'name.strip().title() + "!"').encode()
BROKEN = SHOP.replace("name.title()", "name.strip()").encode()
REFUSED = Unproven((Spot(Reason.BOTH_CHANGED, "both changed 'label'"),))

Answer = Callable[[bytes, bytes, bytes, str, Sides], Proven | Unproven]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return merging_data.make(tmp_path_factory.mktemp("data"))


@pytest.fixture
def setting(data: Data, tmp_path: Path) -> Setting:
    kept = store(tmp_path / "store.git", [Repository(data.project)])
    return Setting(tmp_path, kept.place, sys.executable, tries=4)


@pytest.fixture
def task(data: Data, setting: Setting) -> Task:
    return Dataset(Repository(data.dataset), Repository(setting.store)).task(NAME)


@pytest.fixture
def bench(setting: Setting) -> Iterator[Bench]:
    with closing(Bench(setting)) as made:
        yield made


@pytest.fixture
def runner(setting: Setting) -> Iterator[Runner]:
    with closing(Runner(setting.work, Repository(setting.store), setting.python)) as made:
        yield made


def run(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "bench.merging", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_pairs_are_merged_and_held_to_both_suites(data: Data, tmp_path: Path) -> None:
    given = ("--cooperbench", data.dataset, "--repos", data.project, "--python", sys.executable)
    kept = ("--work", tmp_path / "work", "--out", tmp_path / "out")
    told = run(*given, *kept, "--parts", "pairs")
    assert "1 tasks; of 1 the commit is in none of the repositories" in told
    assert f"{NAME}: left out, since they fail their own tests alone: 5" in told
    assert "6 pairs" in told
    results = telling_pairs.read(tmp_path / "out/merging-pairs.jsonl")
    assert sorted(results) == [f"{NAME}/{one}-{two}" for one, two in combinations(sorted(FEATURES)[:4], 2)]
    # Feature 4 renames what the tests of all others call: git merges it in silence.
    assert _seen(results, "git") == {"1-2": True, "1-3": None, "1-4": False, "2-3": True, "2-4": False, "3-4": False}
    assert _seen(results, "union") == {"1-2": True, "1-3": False, "1-4": False, "2-3": True, "2-4": False, "3-4": False}
    assert "other than in" in run(
        *given, *kept, "--parts", "pairs", "--pairs", "1-2", "--against", tmp_path / "out/merging-pairs.jsonl"
    )
    explained = run(*given, *kept, "--explain", f"{NAME}/1-3")
    assert "git: refused" in explained
    assert "+    return name.strip().title()" in explained


def _seen(results: dict[str, Any], method: str) -> dict[str, bool | None]:
    return {name.rpartition("/")[2]: each[method]["passed"] for name, each in results.items()}


def test_a_record_that_another_process_is_beginning_is_waited_for(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "outcomes.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        ending = threading.Timer(0.2, other.execute, ("COMMIT",))
        ending.start()
        with closing(suites.Outcomes(tmp_path / "outcomes.db")) as outcomes:
            assert outcomes.find("any") is None
        ending.join()


def test_a_task_is_read_without_the_tests_in_its_features(task: Task) -> None:
    assert task.suites == ("tests/test_shop.py",)
    assert [each.number for each in task.features] == sorted(FEATURES)
    assert all(set(each.changes) == {"src/shop.py"} for each in task.features)
    assert all(set(each.tests) == {"tests/test_shop.py"} for each in task.features)
    assert task.base["src/shop.py"] == SHOP.encode()


def answering(monkeypatch: pytest.MonkeyPatch, answer: Proven | Unproven) -> None:
    monkeypatch.setattr(methods, "merge", lambda *_: answer)


@pytest.mark.parametrize(("source", "passes"), [(BOTH, True), (BROKEN, False)])
def test_what_is_proven_is_held_to_the_tests(
    bench: Bench, task: Task, monkeypatch: pytest.MonkeyPatch, source: bytes, *, passes: bool
) -> None:
    answering(monkeypatch, Proven(source, ("joined",)))
    result = bench.result(task, (task.features[0], task.features[2]))
    assert result.ours == Tried("PROVEN", passes)
    assert result.notes == ["joined"]


def test_what_no_feature_changed_in_the_tests_is_asked_too(
    setting: Setting, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert task.tests == ("tests/test_other.py", "tests/test_shop.py")
    with closing(Bench(replace(setting, others=True))) as bench:
        for extra, passes in ((b"", True), (b"\n\ndel total\n", False)):
            answering(monkeypatch, Proven(BOTH + extra))
            result = bench.result(task, (task.features[0], task.features[2]))
            assert (result.ours, result.others) == (Tried("PROVEN", passed=True), passes)


def test_the_first_candidate_that_passes_is_verified(
    bench: Bench, task: Task, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = (BROKEN, BOTH, BOTH + b"\n")
    tried = (Candidate(source, f"way {number}") for number, source in enumerate(texts, 1))
    answering(monkeypatch, Unproven(REFUSED.spots, None, lambda: tried))
    result = bench.result(task, (task.features[0], task.features[2]))
    assert result.ours == Tried("VERIFIED", passed=True)
    assert (result.tries, result.candidates, result.how) == (2, 3, "src/shop.py: way 2")
    telling_pairs.tell([result])
    told = capsys.readouterr().out.splitlines()
    assert told[1].split()[:2] == ["1", "pairs"]
    assert [line.split()[-3:] for line in told[2:6]] == [list("001"), list("010"), list("001"), list("100")]


def test_a_refusal_gives_its_reasons(
    bench: Bench, task: Task, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, REFUSED)
    result = bench.result(task, (task.features[0], task.features[1]))
    assert result.ours == Tried("REFUSED")
    telling_pairs.tell([result])
    told = capsys.readouterr().out
    assert "BOTH_CHANGED               1           1\n       1  both changed '…'" in told
    assert f"refused though git passes: 1 {NAME}/1-2" in told


def test_a_crash_is_counted_and_shown(
    bench: Bench, task: Task, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash(*_: object) -> Proven:
        raise ZeroDivisionError

    monkeypatch.setattr(methods, "merge", crash)
    result = bench.result(task, (task.features[0], task.features[2]))
    assert result.ours == Tried("REFUSED")
    telling_pairs.tell([result])
    assert f"CRASHED on {NAME}/1-3 src/shop.py" in capsys.readouterr().out


def test_tests_are_run_once_and_the_folder_is_left_as_it_was(
    runner: Runner, task: Task, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    feature = task.features[0]
    seen = [runner.outcome(task, changes, feature) for changes in (feature.changes, {"src/shop.py": SHOP.encode()})]
    assert [each.passed for each in seen] == [True, False]
    assert "test_feature" in seen[1].said
    (place,) = (each for each in (setting.work / "checkouts").iterdir() if each.is_dir())
    assert (place / "src/shop.py").read_text() == SHOP
    monkeypatch.setattr(suites, "overlaid", None)
    assert runner.outcome(task, feature.changes, feature) == seen[0]


def test_tests_that_never_end_are_ended(setting: Setting, task: Task) -> None:
    endless = {"src/shop.py": b"while True:\n    pass\n"}
    with closing(Runner(setting.work, Repository(setting.store), setting.python, seconds=0.5)) as runner:
        outcome = runner.outcome(task, endless, task.features[0])
    assert outcome == suites.Outcome(passed=False, said="It took too long.")


def history(tmp_path: Path) -> tuple[Repository, list[histories.Contested]]:
    data = merging_data.make(tmp_path)
    sides = [SHOP.replace(*FEATURES[number][0]) for number in (1, 3)]
    merging_data.merged(data.project, "src/shop.py", *sides, human=BOTH.decode())
    merging_data.merged(data.project, "notes.txt", "one\n\n\n\ntwo\n", "zero\none\n", human="zero\none\n\n\n\ntwo\n")
    repository = Repository(data.project / ".git")
    with ProcessPoolExecutor(1) as pool:
        return repository, histories.contested(repository, tmp_path / "kept", pool)


def test_a_history_is_searched_for_what_both_sides_changed(tmp_path: Path) -> None:
    repository, found = history(tmp_path)
    assert str(repository) == "shop"
    assert [(each.path, each.conflicts, each.git_same) for each in found] == [
        ("notes.txt", 0, True),
        ("src/shop.py", 1, False),
    ]
    assert histories.texts(repository, found[1]).human == BOTH


def test_ours_is_held_to_the_human_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, found = history(tmp_path)

    def looked(answer: Proven | Unproven) -> histories.Seen:
        monkeypatch.setattr(histories, "merge", lambda *_: answer)
        return histories.look(repository, found[1])

    same, other, broken = looked(Proven(BOTH + b"\n# a word\n")), looked(Proven(BROKEN)), looked(Proven(b"def\n"))
    assert [(each.same, each.parses) for each in (same, other, broken)] == [(True, True), (False, True), (False, False)]
    moved = looked(Proven(b"".join(reversed(BOTH.splitlines(keepends=True)))))
    assert (moved.same, moved.is_reordered, moved.parses) == (False, True, False)
    refused = looked(REFUSED)
    assert (refused.verdict, refused.is_joined) == ("REFUSED", True)
    telling_histories.tell([same, other, broken, moved, refused])
    told = capsys.readouterr().out
    (row,) = (line.split() for line in told.splitlines() if line.startswith("git conflicts"))
    assert row == ["git", "conflicts", *map(str, (5, 0, 4, 1, 1, 2, 2, 1))]
    assert "cannot be parsed" in told


@pytest.mark.slow
def test_a_history_is_told_and_kept(tmp_path: Path) -> None:
    history(tmp_path)
    project = tmp_path / "shop.git"
    told = run("--repos", project, "--parts", "histories", "--work", tmp_path / "work", "--out", tmp_path)
    assert "git conflicts, Python" in told
    rows = [json.loads(line) for line in (tmp_path / "merging-histories.jsonl").read_text().splitlines()]
    assert [row["name"].rpartition(":")[2] for row in rows] == ["notes.txt", "src/shop.py"]
    explained = run("--repos", project, "--work", tmp_path / "work", "--explain", rows[1]["name"])
    assert '+    return name.strip().title() + "!"' in explained.partition("----- the human's")[2]


def test_text_that_is_not_python_is_compared_by_its_lines() -> None:
    assert histories.same_program("a.txt", b"one \ntwo\n\n", b"one\ntwo")
    assert not histories.same_program("a.txt", b"one\ntwo\n", b"two\none\n")
    assert not histories.same_program("a.py", b"print 1\n", b"print 2\n")


@pytest.mark.parametrize("samples", [of_one_function, of_two_functions])
def test_the_samples_of_speed_are_real_files_with_an_edit_on_each_side(samples: Callable[[], Any]) -> None:
    found = samples()
    assert len(found) == 20
    for each in found:
        assert 900 <= each.base.count(b"\n") <= 1100
        for side, word in ((each.ours, b"counted_by_ours = 1"), (each.theirs, b"counted_by_theirs = 1")):
            compile(side, each.name, "exec", dont_inherit=True)
            assert [line for line in side.splitlines() if line.strip() == word]
            assert side.count(b"\n") == each.base.count(b"\n") + 1
