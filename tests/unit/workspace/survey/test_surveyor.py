"""What differs between two looks at a working tree: the same as two full copies would show."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.cli_driver import GIT
from tests.effort import examples

from commonhold.code.regions.region import hash_bytes
from commonhold.workspace.git.process import Git
from commonhold.workspace.survey import Surveyor
from commonhold.workspace.survey.surveyor import Survey

pytestmark = pytest.mark.slow

TRACKED = {"a.txt": b"a\n", "src/b.txt": b"b\n", "src/c.txt": b"c\n", "x y/\u00e9.txt": b"d\n"}


class Kept(dict[str, bytes]):
    """What was kept, by hash."""

    def __call__(self, contents: Sequence[bytes]) -> None:
        self.update({hash_bytes(each): each for each in contents})


class Watched:
    """A working tree, and what is found to differ in it."""

    def __init__(self, root: Path, **choices: object) -> None:
        self.root, self.kept = root, Kept()
        git = Git(str(root)) if (root / ".git").exists() else None
        self.surveyor = Surveyor(str(root), git, **choices)  # type: ignore[arg-type]  # a test says which

    def look(self) -> Survey:
        return self.surveyor.look(self.kept)

    def changed(self, before: Survey) -> dict[str, tuple[bytes | None, bytes | None]]:
        """What the files that differ held and hold."""
        found = self.surveyor.changes(before, self.look(), self.kept)
        assert not any(change.is_unread for change in found)
        return {each.path: (self.kept[each.before] if each.before else None, self.now(each.path)) for each in found}

    def now(self, path: str) -> bytes | None:
        place = self.root / path
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    def git(self, *words: str) -> None:
        subprocess.run((*GIT, *words), cwd=self.root, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Watched:
    root = tmp_path / "work"
    for path, content in TRACKED.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root / ".gitignore").write_text("ignored/\n*.log\n")
    subprocess.run((*GIT, "init", "-q"), cwd=root, check=True)
    watched = Watched(root)
    watched.git("add", "-A")
    watched.git("commit", "-qm", "first")
    return watched


def test_nothing_differs_where_nothing_was_done(tree: Watched) -> None:
    (tree.root / "new").write_bytes(b"new")
    (tree.root / "a.txt").write_bytes(b"dirty")
    assert tree.changed(tree.look()) == {}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_not_to_look_at_is_looked_at(tree: Watched, flag: str) -> None:
    tree.git("update-index", flag, "a.txt", "src/b.txt")
    (tree.root / "src/b.txt").unlink()
    before = tree.look()
    assert tree.changed(before) == {}
    (tree.root / "a.txt").write_bytes(b"other\n")
    (tree.root / "src/b.txt").write_bytes(b"again\n")
    assert tree.changed(before) == {"a.txt": (b"a\n", b"other\n"), "src/b.txt": (None, b"again\n")}


def test_a_time_that_is_set_back_hides_nothing_whatever_the_settings_say(tree: Watched) -> None:
    tree.git("config", "core.trustCtime", "false")
    tree.git("config", "core.checkStat", "minimal")
    place = tree.root / "a.txt"
    os.utime(place, (1_000_000_000, 1_000_000_000))
    tree.git("update-index", "--refresh")
    before = tree.look()
    place.write_bytes(b"b\n")
    changed = place.stat().st_ctime
    while int(place.stat().st_ctime) == int(changed):  # git compares whole seconds
        os.utime(place, (1_000_000_000, 1_000_000_000))
        time.sleep(0.02)
    assert tree.changed(before) == {"a.txt": (b"a\n", b"b\n")}


def test_files_that_git_has_and_that_it_has_not_are_told_with_what_they_held(tree: Watched) -> None:
    (tree.root / "new").write_bytes(b"one")
    (tree.root / "src/b.txt").write_bytes(b"dirty")
    before = tree.look()
    (tree.root / "new").write_bytes(b"two")
    (tree.root / "newer").write_bytes(b"three")
    (tree.root / "src/b.txt").write_bytes(b"b\n")
    (tree.root / "a.txt").write_bytes(b"A\n")
    (tree.root / "src/c.txt").unlink()
    assert tree.changed(before) == {
        "a.txt": (b"a\n", b"A\n"),
        "new": (b"one", b"two"),
        "newer": (None, b"three"),
        "src/b.txt": (b"dirty", b"b\n"),
        "src/c.txt": (b"c\n", None),
    }


def test_staging_and_committing_change_no_file(tree: Watched) -> None:
    (tree.root / "a.txt").write_bytes(b"A\n")
    (tree.root / "new").write_bytes(b"new")
    before = tree.look()
    tree.git("add", "-A")
    tree.git("commit", "-qm", "second")
    assert tree.changed(before) == {}


def test_going_to_another_commit_changes_the_files_that_differ(tree: Watched) -> None:
    (tree.root / "a.txt").write_bytes(b"A\n")
    tree.git("commit", "-qam", "second")
    before = tree.look()
    tree.git("checkout", "-q", "HEAD~1")
    assert tree.changed(before) == {"a.txt": (b"A\n", b"a\n")}


def test_what_is_ignored_is_left_alone(tree: Watched) -> None:
    (tree.root / "ignored").mkdir()
    before = tree.look()
    (tree.root / "ignored/x").write_bytes(b"x")
    (tree.root / "y.log").write_bytes(b"y")
    assert tree.changed(before) == {}


def test_what_the_project_says_is_left_alone_is_though_git_has_it(tree: Watched) -> None:
    (tree.root / ".commonholdignore").write_text("src/\n")
    watched = Watched(tree.root, ignored=["a.*"])
    before = watched.look()
    for path in ("a.txt", "src/b.txt", "src/new", "a.new"):
        (tree.root / path).write_bytes(b"else")
    assert watched.changed(before) == {}


def test_line_ends_are_as_they_are_in_the_files(tree: Watched) -> None:
    (tree.root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    tree.git("add", "-A")
    (tree.root / "a.txt").unlink()
    tree.git("checkout", "a.txt")
    before = tree.look()
    (tree.root / "a.txt").write_bytes(b"A\r\n")
    assert tree.changed(before) == {"a.txt": (b"a\r\n", b"A\r\n")}


def test_links_and_repositories_inside_are_no_files(tree: Watched) -> None:
    before = tree.look()
    (tree.root / "way").symlink_to("a.txt")
    (tree.root / "inner").mkdir()
    subprocess.run((*GIT, "init", "-q"), cwd=tree.root / "inner", check=True)
    (tree.root / "inner/x").write_bytes(b"x")
    (tree.root / "src/b.txt").unlink()
    (tree.root / "src/b.txt").symlink_to("c.txt")
    assert tree.changed(before) == {"src/b.txt": (b"b\n", None)}


BECOME: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "link": lambda place: place.symlink_to("/etc/hostname"),
    "link to a folder": lambda place: place.symlink_to("src"),
}


@pytest.mark.parametrize("what", BECOME)
@pytest.mark.parametrize("path", ["a.txt", "new"])
def test_a_file_that_becomes_something_else_is_gone(tree: Watched, path: str, what: str) -> None:
    (tree.root / "new").write_bytes(b"new\n")
    before = tree.look()
    was = (tree.root / path).read_bytes()
    (tree.root / path).unlink()
    BECOME[what](tree.root / path)
    assert tree.changed(before) == {path: (was, None)}


def test_a_change_that_leaves_size_and_times_as_they_were_is_seen(tree: Watched) -> None:
    place = tree.root / "new"
    place.write_bytes(b"one")
    before, status = tree.look(), place.stat()
    place.write_bytes(b"two")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert tree.changed(before) == {"new": (b"one", b"two")}


def test_of_a_file_that_is_too_large_it_is_told_that_it_differs(tree: Watched) -> None:
    watched = Watched(tree.root, max_file_bytes=10)
    (tree.root / "large").write_bytes(b"x" * 11)
    before = watched.look()
    (tree.root / "large").write_bytes(b"y" * 12)
    (tree.root / "a.txt").write_bytes(b"z" * 12)
    found = watched.surveyor.changes(before, watched.look(), watched.kept)
    assert [(change.path, change.is_unread) for change in found] == [("a.txt", True), ("large", True)]


def test_a_folder_without_git_is_looked_at_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    watched = Watched(tmp_path)
    before = watched.look()
    (tmp_path / "a").write_bytes(b"b")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/c").write_bytes(b"c")
    assert watched.changed(before) == {"a": (b"a", b"b"), "sub/c": (None, b"c")}


NAMES = st.sampled_from(["a.txt", "src/b.txt", "src/c.txt", "new", "src/new", "deep/er/new"])


def write(watched: Watched, path: str, content: bytes) -> None:
    place = watched.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def remove(watched: Watched, path: str, _: bytes) -> None:
    (watched.root / path).unlink(missing_ok=True)


def stage(watched: Watched, *_: object) -> None:
    watched.git("add", "-A")


Deed = Callable[[Watched, str, bytes], None]
DEEDS = st.lists(
    st.tuples(st.sampled_from([write, remove, stage]), NAMES, st.sampled_from([b"a\n", b"b\n", b"other\n"])), max_size=5
)


@settings(examples(0.12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DEEDS, DEEDS)
def test_any_story_is_told_as_two_copies_would_tell_it(
    tree: Watched, first: list[tuple[Deed, str, bytes]], then: list[tuple[Deed, str, bytes]]
) -> None:
    for deed, path, content in first:
        deed(tree, path, content)
    shutil.rmtree(copy := tree.root.with_name("copy"), ignore_errors=True)
    shutil.copytree(tree.root, copy, ignore=shutil.ignore_patterns(".git"))
    before = tree.look()
    for deed, path, content in then:
        deed(tree, path, content)
    names = {str(path.relative_to(root)) for root in (copy, tree.root) for path in root.rglob("*") if path.is_file()}
    was = {name: (copy / name).read_bytes() if (copy / name).exists() else None for name in names}
    expected = {name: (was[name], tree.now(name)) for name in names if was[name] != tree.now(name)}
    assert tree.changed(before) == {name: pair for name, pair in expected.items() if not name.startswith(".git/")}
