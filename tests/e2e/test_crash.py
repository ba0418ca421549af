"""A commit over several files, killed before every file operation and every step: all old or all new, always."""

import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.crashing_commit import READ
from tests.effort import is_stress

import commonhold
from commonhold.kernel.events import Committed, CommitUndone

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("crashing_commit.py")
NEVER = 10_000
APART = 1 if is_stress() else 3
"""How far apart the points are at which a commit is killed, until it is acknowledged once."""
Crash = Callable[[Path, int], bool]
OLD = {
    "a.py": b"def f():\n    return 'old'\n",
    "pkg/b.py": b"A = 'theirs'\nB = 0\nC = 'old'\n",
    "c.txt": b"gone\n",
    "d.txt": b"moved\n",
}
NEW = {
    "a.py": b"def f():\n    return 'new'\n",
    "pkg/b.py": b"A = 'theirs'\nB = 0\nC = 'new'\n",
    "made/deep/e.py": b"E = 'new'\n",
    "pkg/moved.txt": b"moved\n",
}


def lay_out(root: Path) -> None:
    """A repository with the old files, one of which was read when it was older still."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name, content in OLD.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    late = root / "pkg/b.py"
    late.write_text(READ, encoding="utf-8")
    with commonhold.open(str(root)) as hold:
        hold.read("pkg/b.py")
    late.write_bytes(OLD["pkg/b.py"])


def tree(root: Path) -> dict[str, bytes]:
    """All files, leftovers too."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


@pytest.fixture(scope="module")
def crash() -> Iterator[Crash]:
    """Commit in a repository and be killed at a point: gives whether the commit was acknowledged."""
    command = [sys.executable, str(SCRIPT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as server:
        assert server.stdin
        assert server.stdout

        def commit(root: Path, kill_at: int) -> bool:
            print(kill_at, root, file=server.stdin)
            output = server.stdout.readline() if server.stdout else ""
            is_acknowledged = output == "merged\n"
            ended = server.stdout.readline() if server.stdout and is_acknowledged else output
            assert ended in ("ended -9\n", "ended 0\n"), ended
            assert is_acknowledged or ended == "ended -9\n"
            return is_acknowledged

        yield commit
        server.stdin.close()


def recovered(root: Path) -> tuple[list[object], dict[str, bytes]]:
    """The events and the files as the next agent finds them."""
    with commonhold.open(str(root), agent="next") as hold:
        hold.recover()
        return [each.event for each in hold.log()], tree(root)


def test_a_kill_at_any_point_leaves_all_old_or_all_new(tmp_path: Path, crash: Crash) -> None:
    seen: Counter[str] = Counter()
    kill_at = 1
    while not (seen["acknowledged"] and seen["new"]):
        root = tmp_path / str(seen.total())
        lay_out(root)
        is_acknowledged = crash(root, kill_at)
        events, files = recovered(root)
        is_committed = any(isinstance(event, Committed) for event in events)
        assert files == (NEW if is_committed else OLD), f"killed at {kill_at}"
        assert bool((root / "a.py").stat().st_mode & 0o100) is is_committed
        assert (root / "made").exists() is is_committed
        assert is_committed or not is_acknowledged
        seen["acknowledged" if is_acknowledged else "new" if is_committed else "old"] += 1
        # A commit has now and then a point less than the one before it: then the last ones are tried again.
        kill_at += -3 if is_acknowledged else 1 if seen["acknowledged"] else APART
        assert seen["acknowledged"] < 20, "no point lies behind the one at which the commit became a fact"
    assert seen["old"] * APART > 20, "the loop really walked through the commit"


def test_the_same_request_after_a_crash_is_answered_once(tmp_path: Path, crash: Crash) -> None:
    for kill_at in (5, 15, 25, 35):
        root = tmp_path / str(kill_at)
        lay_out(root)
        crash(root, kill_at)
        with commonhold.open(str(root), agent="next") as hold:
            hold.recover()
        assert crash(root, NEVER)
        events, files = recovered(root)
        assert files == NEW
        assert sum(isinstance(event, Committed) for event in events) == 1


def test_a_file_changed_by_a_person_after_the_crash_is_left_alone(tmp_path: Path, crash: Crash) -> None:
    root = next(root for root in _crashed(tmp_path, crash) if tree(root)["a.py"] == NEW["a.py"])
    (root / "a.py").write_bytes(b"# a person was here\n")
    events, files = recovered(root)
    undone = [event for event in events if isinstance(event, CommitUndone)]
    assert [event.left for event in undone] == [("a.py",)]
    assert files == OLD | {"a.py": b"# a person was here\n"}


def _crashed(tmp_path: Path, crash: Crash) -> Iterator[Path]:
    """Repositories as a kill leaves them, at one point after the other, some apart."""
    for kill_at in itertools.count(10, 8):
        root = tmp_path / str(kill_at)
        lay_out(root)
        assert not crash(root, kill_at)
        yield root
