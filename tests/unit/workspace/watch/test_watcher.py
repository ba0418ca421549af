"""The watcher on a real disk: whatever changes a file is seen, however it does so, and what is ignored is not."""

import errno
import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path, PurePath

import pytest
from tests.e2e.cli_driver import git
from tests.patience import PATIENCE_SECONDS, until

from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore import IgnoredPaths
from commonhold.workspace.repository import find_repository
from commonhold.workspace.watch import Burst, Watcher, notifiers, watcher
from commonhold.workspace.watch.notifiers import Notified, Source

pytestmark = pytest.mark.slow

MARK = "mark."


def is_passing(path: str) -> bool:
    """Whether it is there for a moment alone, and may be seen or not: what `sed -i` writes, and marks of our own."""
    return PurePath(path).name.startswith(("sed", MARK, ".a.py.swp"))


class Seen:
    """What a watcher told, collected until it is enough."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.marks = count()
        self.bursts: queue.SimpleQueue[Burst] = queue.SimpleQueue()
        git_dir = find_repository(str(root)).git_dir
        ignored = IgnoredPaths(str(root), Git(str(root)))
        self.watcher = Watcher(str(root), git_dir, ignored.is_ignored, self.bursts.put)
        self.watcher.start()
        assert self.watcher.wait_until_watching(PATIENCE_SECONDS)

    def until(self, *paths: str, has_moved_head: bool = False) -> set[str]:
        """All that is told until these are among it; the test fails where they never are."""
        found: set[str] = set()
        has_moved = False
        while not (found >= set(paths) and has_moved >= has_moved_head):
            burst = self.bursts.get(timeout=PATIENCE_SECONDS)
            found |= burst.paths
            has_moved |= burst.has_moved_head
        return {path for path in found if not is_passing(path)}

    def rest(self) -> None:
        """Wait until all is told that was done up to now: a file that is opened and then written may be told twice."""
        mark = self.root / f"{MARK}{next(self.marks)}"
        elsewhere = self.root.with_name(mark.name)
        elsewhere.touch()
        elsewhere.rename(mark)
        while mark.name not in self.bursts.get(timeout=PATIENCE_SECONDS).paths:
            pass
        mark.unlink()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "src").mkdir(parents=True)
    git(made, "init", "--quiet", "--initial-branch=main")
    for name in "abc":
        (made / "src" / f"{name}.py").write_text(f"{name} = 1\n", encoding="utf-8")
    (made / ".gitignore").write_text("build/\n*.log\n", encoding="utf-8")
    git(made, "add", ".")
    git(made, "commit", "--quiet", "-m", "first")
    return made


@pytest.fixture
def seen(root: Path) -> Iterator[Seen]:
    made = Seen(root)
    yield made
    made.watcher.stop()
    assert made.watcher.way == "ended"


def by_rename(root: Path) -> None:
    (root / "src/.a.py.swp").write_text("a = 2\n", encoding="utf-8")
    (root / "src/.a.py.swp").replace(root / "src/a.py")


def in_place(root: Path) -> None:
    subprocess.run(["sed", "-i", "s/1/2/", "src/a.py"], cwd=root, check=True)


def same_size_and_time(root: Path) -> None:
    file, before = root / "src/a.py", (root / "src/a.py").stat()
    file.write_text("a = 2\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def new_folders(root: Path) -> None:
    subprocess.run(["sh", "-c", "mkdir -p x/y/z && echo 1 > x/y/z/new.py"], cwd=root, check=True)


def folder_deleted(root: Path) -> None:
    shutil.rmtree(root / "src")


def folder_moved_away(root: Path) -> None:
    (root / "src").rename(root.parent / "elsewhere")


def folder_renamed(root: Path) -> None:
    (root / "src").rename(root / "lib")


def folder_moved_here(root: Path) -> None:
    made = root.parent / "made"
    (made / "deep").mkdir(parents=True)
    (made / "deep/new.py").write_text("1", encoding="utf-8")
    made.rename(root / "made")


def becomes_a_link(root: Path) -> None:
    (root / "src/a.py").unlink()
    (root / "src/a.py").symlink_to("b.py")


def through_a_link(root: Path) -> None:
    (root / "link").symlink_to("src")
    (root / "link/a.py").write_text("a = 2\n", encoding="utf-8")


SOURCES = {f"src/{name}.py" for name in "abc"}
WAYS: dict[Callable[[Path], None], set[str]] = {
    by_rename: {"src/a.py"},
    in_place: {"src/a.py"},
    same_size_and_time: {"src/a.py"},
    new_folders: {"x/y/z/new.py"},
    folder_deleted: SOURCES,
    folder_moved_away: SOURCES,
    folder_renamed: SOURCES | {f"lib/{name}.py" for name in "abc"},
    folder_moved_here: {"made/deep/new.py"},
    becomes_a_link: {"src/a.py"},
    through_a_link: {"src/a.py"},
}


@pytest.mark.parametrize("change", WAYS, ids=lambda change: change.__name__)
def test_a_change_is_seen_however_it_is_made(seen: Seen, root: Path, change: Callable[[Path], None]) -> None:
    assert seen.watcher.way == "notified"
    change(root)
    assert seen.until(*WAYS[change]) == WAYS[change]


def test_new_folders_are_watched_from_then_on(seen: Seen, root: Path) -> None:
    new_folders(root)
    seen.until("x/y/z/new.py")
    seen.rest()
    (root / "x/y/z/new.py").write_text("2", encoding="utf-8")
    assert seen.until("x/y/z/new.py") == {"x/y/z/new.py"}


def test_what_changes_while_a_folder_comes_is_not_told_later_than_that(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are watched again then; who watched them before had not told it yet."""
    watch = Watcher._source_of

    def in_the_middle(watcher: Watcher, folders: frozenset[str]) -> Source | None:
        if "new" in folders:
            (root / "src/a.py").write_text("a = 22\n", encoding="utf-8")
        return watch(watcher, folders)

    monkeypatch.setattr(Watcher, "_source_of", in_the_middle)
    monkeypatch.setattr(notifiers, "LOOK_SECONDS", 3600.0)
    seen = Seen(root)
    (root / "new").mkdir()
    assert seen.until("src/a.py") == {"src/a.py"}
    seen.watcher.stop()


def test_git_that_goes_to_another_commit_is_told_from_who_edits(seen: Seen, root: Path) -> None:
    git(root, "checkout", "--quiet", "-b", "many")
    assert seen.until(has_moved_head=True) == set()
    paths = {f"lib/{number % 20}/{number}.py" for number in range(500)}
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("1\n", encoding="utf-8")
    seen.until(*paths)
    seen.rest()
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "many")
    assert seen.until(has_moved_head=True) == set()
    git(root, "checkout", "--quiet", "main")
    assert seen.until(*paths, has_moved_head=True) == paths
    git(root, "checkout", "--quiet", "many")
    assert seen.until(*paths, has_moved_head=True) == paths


def test_what_is_ignored_is_neither_told_nor_watched(seen: Seen, root: Path) -> None:
    for path in ("build/out.py", "src/a.log", "other/.git/HEAD", "other/in_it.py", "src/b.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("2", encoding="utf-8")
    found = seen.until("src/b.py")
    assert found <= {"src/b.py", "other/in_it.py"}, "a repository of its own may be seen before it is one"
    assert not any(each.startswith("build") for each in seen.watcher._watched)


def test_two_worktrees_are_told_apart(seen: Seen, root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "--quiet", str(tmp_path / "second"), "-b", "second")
    second = Seen(tmp_path / "second")
    (tmp_path / "second/src/a.py").write_text("2", encoding="utf-8")
    assert second.until("src/a.py") == {"src/a.py"}
    second.rest()
    git(tmp_path / "second", "commit", "--quiet", "--all", "-m", "two")
    assert second.until(has_moved_head=True) == set()
    (root / "src/c.py").write_text("2", encoding="utf-8")
    assert seen.until("src/c.py") == {"src/c.py"}
    second.watcher.stop()


def test_whoever_could_not_take_it_is_told_again(root: Path) -> None:
    told: queue.SimpleQueue[Burst] = queue.SimpleQueue()

    def busy(burst: Burst) -> None:
        told.put(burst)
        if "src/b.py" not in burst.paths:
            raise StoreError(Code.STORE_BUSY, "busy", hint="later", retry_after_seconds=1.0)

    watcher = Watcher(str(root), None, lambda _: False, busy)
    watcher.start()
    assert watcher.wait_until_watching(PATIENCE_SECONDS)
    (root / "src/a.py").write_text("2", encoding="utf-8")
    assert told.get(timeout=PATIENCE_SECONDS).paths == {"src/a.py"}
    (root / "src/b.py").write_text("2", encoding="utf-8")
    assert first_with("src/b.py", told) == {"src/a.py", "src/b.py"}
    watcher.stop()


def first_with(path: str, told: queue.SimpleQueue[Burst]) -> frozenset[str]:
    """The paths of the first burst with this one: of what was written before there may be one more."""
    while path not in (burst := told.get(timeout=PATIENCE_SECONDS)).paths:
        pass
    return burst.paths


def test_whatever_cannot_be_asked_or_told_for_a_moment_does_not_end_the_watching(root: Path) -> None:
    told: queue.SimpleQueue[Burst] = queue.SimpleQueue()
    is_failing = False

    def ignored(_path: str) -> bool:
        if is_failing:
            raise StoreError(Code.GIT_FAILED, "git is busy", hint="later")
        return False

    def full(burst: Burst) -> None:
        told.put(burst)
        if "src/b.py" not in burst.paths:
            raise OSError(errno.ENOSPC, "the disk is full")

    watcher = Watcher(str(root), None, ignored, full)
    watcher.start()
    assert watcher.wait_until_watching(PATIENCE_SECONDS)
    is_failing = True
    (root / "src/a.py").write_text("2", encoding="utf-8")
    assert told.get(timeout=PATIENCE_SECONDS).paths == {"src/a.py"}, "what may be ignored is told"
    (root / "src/b.py").write_text("2", encoding="utf-8")
    assert first_with("src/b.py", told) == {"src/a.py", "src/b.py"}
    watcher.stop()


def test_a_moment_without_free_descriptors_does_not_end_the_watching(
    seen: Seen, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = []

    def fail(folder: object) -> None:
        failures.append(folder)
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(watcher, "BLIND_SECONDS", 0.05)
    with monkeypatch.context() as patch:
        patch.setattr("commonhold.workspace.watch.snapshot.os.scandir", fail)
        (root / "src/a.py").write_text("2", encoding="utf-8")
        until(lambda: len(failures) > 2, what="it looks again and again")
    assert seen.until("src/a.py") >= {"src/a.py"}
    (root / "src/b.py").write_text("2", encoding="utf-8")
    assert seen.until("src/b.py") >= {"src/b.py"}
    assert seen.watcher.way == "notified"


@pytest.mark.parametrize("name", ["caf\udce9.py", "caf\udce9/in_it.py"])
def test_a_name_that_is_no_text_does_not_end_the_watching(seen: Seen, root: Path, name: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("1", encoding="utf-8")
    (root / "src/a.py").write_text("2", encoding="utf-8")
    assert seen.until("src/a.py") == {"src/a.py"}
    seen.rest()
    (root / name).write_text("2", encoding="utf-8")
    (root / "src/b.py").write_text("2", encoding="utf-8")
    assert seen.until("src/b.py") == {"src/b.py"}
    assert seen.watcher.way == "notified"


def test_where_nobody_tells_it_looks_again_and_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notified, "of", lambda _: None)
    monkeypatch.setattr(notifiers, "POLL_SECONDS", 0.05)
    seen = Seen(root)
    assert seen.watcher.way == "polled"
    for change in (in_place, new_folders, folder_deleted):
        change(root)
        assert seen.until(*WAYS[change]) == WAYS[change]
        seen.rest()
    seen.watcher.stop()


def test_a_tree_that_is_taken_away_is_watched_no_more(root: Path) -> None:
    seen = Seen(root)
    shutil.rmtree(root)
    seen.until("src/a.py", "src/b.py", "src/c.py")
    until(lambda: seen.watcher.way == "ended")


def test_one_that_was_never_started_can_be_stopped(root: Path) -> None:
    watcher = Watcher(str(root), None, lambda _: False, lambda _: None)
    watcher.stop()
    assert watcher.way == "ended"


ALONE = """
import sys
from pathlib import Path
from tests.unit.workspace.watch.test_watcher import Seen, new_folders, in_place
seen = Seen(Path(sys.argv[1]))
way = seen.watcher.way
in_place(seen.root)
found = seen.until("src/a.py")
new_folders(seen.root)
found |= seen.until("x/y/z/new.py")
seen.watcher.stop()
print(way, *sorted(found))
"""


def can_set_limits() -> bool:
    """Whether this machine lets anybody have a namespace of its own."""
    command = ["unshare", "--user", "--map-root-user", "test", "-w", "/proc/sys/user/max_inotify_watches"]
    return shutil.which("unshare") is not None and subprocess.run(command, check=False).returncode == 0


@pytest.mark.skipif(not can_set_limits(), reason="only Linux with user namespaces can set a limit for one process")
@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_where_the_system_has_no_more_watches_it_looks_again_and_again(root: Path, limit: str) -> None:
    """In a namespace of its own a limit can be set without anybody else feeling it."""
    script = f'echo 0 > /proc/sys/user/{limit} && exec "$0" -c \'{ALONE}\' "$1"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script, sys.executable, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[4])
    assert done.stdout == "polled src/a.py x/y/z/new.py\n", done.stderr
