"""What `check` refuses by contract is never proven by `merge`, whatever both sides did."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.e2e.branches import two_branches
from tests.e2e.cli_driver import call as invoke
from tests.e2e.cli_driver import git
from tests.e2e.made_branches import PROJECTS, Files, made_pair

from commonhold.code.indexes import Index
from commonhold.index.index import index_at
from commonhold.merging.branches.check_branches import CheckWish, check_branches
from commonhold.merging.branches.histories import Held, Meeting
from commonhold.merging.branches.merge_branch import BranchWish, Ending, merge_branch
from commonhold.merging.verdict import Verdict
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow

PAIRS = 24


class _Free:
    """No leases."""

    def on(self, paths: Sequence[str]) -> tuple[Held, ...]:
        assert paths is not None
        return ()


class _AnyTwo(GitHistory):
    """A history whose current branch is whichever was named; nothing of it is checked out."""

    ours = ""

    def meeting(self, name: str) -> Meeting:
        return self.meeting_of(self.ours, name)

    def under_way(self) -> str | None:
        return None

    def touched(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        assert tree != meeting.ours.commit
        return ()

    in_the_way = touched


def _stream(base: Files, pairs: Sequence[tuple[Files, Files]]) -> Iterator[str]:
    """What `git fast-import` makes of it: one base, and a branch a side."""
    yield from _commit("main", base, "")
    for number, pair in enumerate(pairs):
        for name, files in zip(("ours", "theirs"), pair, strict=True):
            yield from _commit(f"{name}{number}", files, "from refs/heads/main\n")


def _commit(branch: str, files: Files, origin: str) -> Iterator[str]:
    yield f"commit refs/heads/{branch}\ncommitter x <x@x> 1700000000 +0000\ndata 1\nx\n{origin}"
    for path, text in files.items():
        yield f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"
    yield "\n"


@contextmanager
def _opened(index: Index) -> Iterator[Index]:
    yield index


@pytest.mark.parametrize("language", PROJECTS)
def test_what_check_refuses_is_not_proven(language: str, tmp_path: Path) -> None:
    project = PROJECTS[language]
    pairs = [made_pair(project, seed) for seed in range(PAIRS)]
    git(tmp_path, "init", "-q", "-b", "main", ".")
    stream = "".join(_stream(project.base, pairs)).encode()
    subprocess.run(["git", "-C", tmp_path, "fast-import", "--quiet"], input=stream, check=True)
    place = find_repository(str(tmp_path))
    history = _AnyTwo(Git(place.root), str(tmp_path / ".git"))
    refused = 0
    with closing(index_at(place, 10**6)) as index:
        for number, (mine, others) in enumerate(pairs):
            if project.base in (mine, others):
                continue
            history.ours = f"ours{number}"
            wish = BranchWish(f"theirs{number}", ending=Ending.TELL)
            merged = merge_branch(history, wish, _Free(), partial(_opened, index))
            checked = check_branches(history, index, CheckWish(f"theirs{number}", f"ours{number}"))
            refused += checked.outcome == "refused"
            if checked.outcome == "refused":
                assert merged.verdict is not Verdict.PROVEN, (mine, others, checked.findings)
    assert refused >= PAIRS // 8


PRICE = "def price(a, b=1):\n    x = a\n    y = b\n    return x, y\n"
USER = "import m\n\n\ndef run():\n    return m.price(1)\n"
WITH_D = PRICE.replace("b=1)", "b=1, d=2)").replace("x = a", "x = a + d")
WITH_C = PRICE.replace("b=1)", "b=1, c=3)").replace("y = b", "y = b + c")


@pytest.mark.parametrize(("call", "verdict"), [("m.price(1, 2, 5)", "REFUSED"), ("m.price(1, 2, d=5)", "PROVEN")])
def test_a_call_that_binds_otherwise_where_both_changed_the_function(
    call: str, verdict: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {"m.py": WITH_D, "u.py": USER.replace("m.price(1)", call)}
    root = two_branches(tmp_path / "r", {"m.py": PRICE, "u.py": USER}, ours, {"m.py": WITH_C})
    monkeypatch.setenv("HOME", str(tmp_path))
    done = invoke(capsysbinary, monkeypatch, "-C", str(root), "merge", "other", "--dry-run", "--json")
    assert done.json["verdict"] == verdict
    assert [each["theirs_path"] for each in done.json["met"]] == (["m.py"] if verdict == "REFUSED" else [])
    kept = invoke(capsysbinary, monkeypatch, "-C", str(root), "merge", "other", "--keep-conflicts")
    assert ("no file has markers: change the places named above" in kept.text) is (verdict == "REFUSED")
