"""What is newly said of a change, by a small server of our own, which remembers what it read as the real ones do."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.unit.typecheck.rig import Rig, said

from commonhold.code.type_checkers import Diagnostic, TypeReport
from commonhold.typecheck import Checkers, ServerChecker, comparison
from commonhold.typecheck.connection import Asked
from commonhold.typecheck.dialogue import Dialogue

pytestmark = pytest.mark.slow

MODES = ("pull", "push", "push without versions")
GONE = {"a.fake": b"offer other\n"}
BROKEN = ["b.fake:1 one is not offered"]


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mtime_ns,
            path.lstat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in root.rglob("*")
    }


@pytest.mark.parametrize("mode", MODES)
def test_only_what_is_new_is_said(rig: Rig, mode: str) -> None:
    checker = rig.checker(mode)
    report = checker.compare(GONE, ["b.fake", "c.fake"])
    assert report == TypeReport((Diagnostic("b.fake", 1, "one is not offered", "not-offered"),), "fake 1.2")
    both = {"a.fake": b"offer two\noffer other\n", "b.fake": b"\n\nuse one\nuse one\n"}
    assert said(checker.compare(both, ["c.fake"])) == ["b.fake:3 one is not offered", "b.fake:4 one is not offered"]
    assert checker.compare({"b.fake": b"use other\n", "a.fake": b"offer other"}, ["c.fake"]) == TypeReport(
        (), "fake 1.2"
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_confined_file_is_shown_and_not_asked_about(rig: Rig, mode: str) -> None:
    checker = rig.checker(mode)
    text = {"a.fake": b"offer other\nuse three\n"}
    assert said(checker.compare(text, ["b.fake"], ["a.fake"])) == BROKEN
    assert said(checker.compare(text, ["b.fake"])) == ["a.fake:2 three is not offered", *BROKEN]


def test_no_server_is_asked_about_a_confined_file_alone(rig: Rig) -> None:
    assert rig.checker().compare(GONE, (), ["a.fake"]) == TypeReport()
    assert rig.started() == []


@pytest.mark.parametrize("mode", MODES)
def test_what_was_compared_is_not_there_afterwards(rig: Rig, mode: str) -> None:
    checker = rig.checker(mode)
    assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    assert said(checker.compare({"d.fake": b"use one\nuse other\n", "c.fake": b"use one\nuse other\n"})) == [
        "c.fake:2 other is not offered",
        "d.fake:2 other is not offered",
    ]
    assert said(checker.compare({"c.fake": b"use one\nuse other\n"}, ["b.fake"])) == ["c.fake:2 other is not offered"]


@pytest.mark.parametrize("mode", MODES)
def test_what_others_do_on_disk_is_seen(rig: Rig, mode: str) -> None:
    checker = rig.checker(mode)
    assert said(checker.compare({"c.fake": b"use three\n"})) == ["c.fake:1 three is not offered"]
    rig.write(d="offer three\n")
    assert said(checker.compare({"c.fake": b"use three\n"})) == []
    rig.write(d="offer four!\n")
    assert said(checker.compare({"c.fake": b"use three\n"})) == ["c.fake:1 three is not offered"]
    (rig.root / "a.fake").unlink()
    assert said(checker.compare({"c.fake": b"use one\n"}, ["b.fake"])) == ["c.fake:1 one is not offered"]
    assert len(rig.started()) == 1


def test_what_was_committed_is_what_is_there(rig: Rig) -> None:
    checker = rig.checker()
    assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    rig.write(a="offer other\n")
    assert said(checker.compare({"c.fake": b"use other\nuse one\n"}, ["b.fake"])) == ["c.fake:2 one is not offered"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were asked about."""
    paths: list[str] = []
    ask = Dialogue._ask_for

    def recorded(dialogue: Dialogue, path: str) -> Asked:
        paths.append(path)
        return ask(dialogue, path)

    monkeypatch.setattr(Dialogue, "_ask_for", recorded)
    return paths


def test_what_was_answered_is_not_asked_again_while_all_is_as_it_was(rig: Rig, asked: list[str]) -> None:
    checker = rig.checker()
    checker.compare({"a.fake": b"offer one\noffer two\n"}, ["b.fake"])
    assert asked == ["a.fake", "b.fake"] * 2
    rig.write(a="offer one\noffer two\n")
    assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    assert asked == ["a.fake", "b.fake"] * 3
    assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    assert asked == ["a.fake", "b.fake"] * 5


def test_what_the_server_takes_back_is_asked_again(rig: Rig, asked: list[str]) -> None:
    checker = rig.checker("takes it back")
    checker.compare({"a.fake": b"offer one\noffer two\n"}, ["b.fake"])
    rig.write(a="offer one\noffer two\n")
    assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    assert asked == ["a.fake", "b.fake"] * 4


def test_what_changed_while_it_was_shown_is_told_when_it_is_hidden(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_MOST_SHOWN", 1)
    checker = rig.checker()
    assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    rig.write(a="offer other\n")
    for _ in range(2):
        assert said(checker.compare({"c.fake": b"use other\nuse one\n"})) == ["c.fake:2 one is not offered"]


@pytest.mark.parametrize(
    ("changes", "also", "expected"),
    [
        ({"new.fake": b"offer two\n"}, ["c.fake"], []),
        (
            {"sub/deep/new.fake": b"offer three\nuse one\nuse four\n"},
            ["b.fake"],
            ["sub/deep/new.fake:3 four is not offered"],
        ),
        ({"a.fake": None}, ["b.fake", "c.fake"], BROKEN),
        ({"a.fake": None, "sub/z.fake": b"offer one\n"}, ["b.fake", "c.fake"], []),
        ({"c.fake": None, "z.fake": b"\nuse two\nuse five\n"}, [], ["z.fake:3 five is not offered"]),
        ({"sub/there.fake": None}, ["user.fake"], ["user.fake:1 there is not offered"]),
        ({"linked/there.fake": b"offer here\n", "b.fake": b"use here\nuse there\n"}, [], []),
        ({"never.fake": None}, ["b.fake"], []),
        ({"never.fake": None}, [], []),
    ],
)
def test_files_that_come_and_go(
    rig: Rig,
    changes: Mapping[str, bytes | None],
    also: list[str],
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scratch = rig.root.parent / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    (rig.root / "sub").mkdir()
    (rig.root / "sub" / "there.fake").write_text("offer there\n")
    (rig.root / "linked").symlink_to("sub")
    rig.write(user="use there\n")
    before = snapshot(rig.root)
    report = rig.checker().compare(changes, also)
    assert (said(report), report.why) == (expected, "")
    assert snapshot(rig.root) == before
    assert list(scratch.iterdir()) == []


def test_it_is_started_anew_when_its_ground_changes(rig: Rig) -> None:
    checker = rig.checker()
    for text in ("", "a", "ab"):
        (rig.root / "fake.toml").write_text(text)
        assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
        assert said(checker.compare(GONE, ["b.fake"])) == BROKEN
    assert len(rig.started()) == 3


@pytest.mark.parametrize("content", [b"use one\n\xff\n", b"use one\n" * 600_000], ids=["no UTF-8", "too long"])
def test_what_has_no_text_is_told_of_and_the_rest_compared(rig: Rig, content: bytes) -> None:
    (rig.root / "d.fake").write_bytes(content)
    report = rig.checker().compare(GONE, ["b.fake", "d.fake"])
    assert said(report) == BROKEN
    assert report.why == "types were not compared in d.fake: it is not UTF-8, or too long; look at it yourself"
    os.mkfifo(rig.root / "e.fake")
    assert said(rig.checker().compare(GONE, ["b.fake", "e.fake", "sub.fake", "../outside.fake"])) == BROKEN


def test_files_of_other_languages_start_nothing(rig: Rig) -> None:
    assert rig.checker().compare({"a.other": b"x", "README": None}, ["b.fake"]) == TypeReport()
    assert rig.started() == []


def test_one_that_is_not_there_is_told_of_with_the_next_step(rig: Rig) -> None:
    checker = ServerChecker(rig.server("pull"), str(rig.root), {"PATH": str(rig.root)})
    assert checker.compare(GONE) == TypeReport(
        why="types were not compared: fake is not found; npm install fake", is_missing=True
    )


def test_a_workspace_that_cannot_be_mirrored_is_told_of(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(rig.root / "nowhere"))
    report = rig.checker().compare({"new.fake": b""})
    assert report.why.startswith("types were not compared: fake cannot be shown the files (No such file or directory)")
    assert rig.checker().compare({"b.fake/new.fake": b""}).why != ""


def test_several_are_one(rig: Rig) -> None:
    missing = ServerChecker(rig.server("pull"), str(rig.root), {"PATH": ""})
    both = Checkers([missing, rig.checker()])
    report = both.compare(GONE, ["b.fake"])
    assert (said(report), report.checker) == (BROKEN, "fake 1.2")
    assert report.why == "types were not compared: fake is not found; npm install fake"
    assert both.compare({"x.other": b""}) == TypeReport()
    both.close()
    assert Checkers([]).compare(GONE) == TypeReport()


def test_only_so_many_files_stay_open(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_MOST_SHOWN", 2)
    checker = rig.checker()
    for _ in range(2):
        assert said(checker.compare(GONE, ["b.fake", "c.fake"])) == BROKEN
        assert said(checker.compare({"b.fake": b"use two\n"})) == ["b.fake:1 two is not offered"]
