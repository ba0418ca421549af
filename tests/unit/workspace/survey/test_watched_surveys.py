"""Looks at what has changed alone: they find what a look at everything finds, or everything is looked at."""

import mmap
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.cli_driver import GIT
from tests.effort import examples

from commonhold.code.regions.region import hash_bytes
from commonhold.machine import file_stamps
from commonhold.workspace import folder_watch
from commonhold.workspace.folder_watch import FolderWatch
from commonhold.workspace.git.process import Git
from commonhold.workspace.survey import Surveyor, surveyor
from commonhold.workspace.survey.listed import Listed, listed
from commonhold.workspace.survey.surveyor import MOST_SINCE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify"),
]
TRACKED = {"a.txt": b"a\n", "src/b.txt": b"b\n", "src/c.txt": b"c\n", "src/deep/d.txt": b"d\n"}
TICK_SECONDS = 0.02

Found = dict[str, tuple[bytes | None, bytes | None]]


class Story:
    """A working tree that is looked at again and again; `everything` counts the looks at all of it."""

    def __init__(self, root: Path, **choices: object) -> None:
        self.root, self.kept, self.everything = root, dict[str, bytes](), 0
        self.surveyor = Surveyor(str(root), Git(str(root)), **choices)  # type: ignore[arg-type]  # a test says which
        self.before = self.surveyor.look(self.keep)

    def keep(self, contents: Sequence[bytes]) -> None:
        self.kept.update({hash_bytes(each): each for each in contents})

    def changed(self) -> Found:
        """What the files that differ from the last look held and hold."""
        after = self.surveyor.look(self.keep)
        found = self.surveyor.changes(self.before, after, self.keep)
        self.before = after
        assert not any(change.is_unread for change in found)
        return {each.path: (self.kept[each.before] if each.before else None, self.now(each.path)) for each in found}

    def now(self, path: str) -> bytes | None:
        place = self.root / path
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    def git(self, *words: str) -> None:
        subprocess.run((*GIT, *words), cwd=self.root, check=True, capture_output=True)

    def rest(self) -> None:
        """Let the stamps of git's files grow old enough to be relied on, and look."""
        time.sleep(TICK_SECONDS * 2)
        assert self.changed() == {}
        self.everything = 0


def made(root: Path) -> None:
    """Make a repository with some files that were committed."""
    for path, content in TRACKED.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root / ".gitignore").write_text("ignored/\n*.log\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run((*GIT, *words), cwd=root, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    monkeypatch.setattr(file_stamps, "_TICK_NANOSECONDS", int(TICK_SECONDS * 1e9))
    made(tmp_path / "work")
    story = Story(tmp_path / "work")

    def counted(*asked: object) -> Listed:
        story.everything += 1
        return listed(*asked)  # type: ignore[arg-type]  # it is handed on

    monkeypatch.setattr(surveyor, "listed", counted)
    story.rest()
    yield story
    story.surveyor.close()


def test_where_nothing_was_done_nothing_is_looked_at(tree: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Git, "run", lambda *_, **__: pytest.fail("git was run"))
    before = tree.surveyor.look(tree.keep)
    assert tree.surveyor.look(tree.keep) is before
    assert tree.changed() == {}


def test_what_was_written_is_found_without_a_look_at_everything(tree: Story) -> None:
    (tree.root / "a.txt").write_bytes(b"A\n")
    (tree.root / "new").write_bytes(b"new")
    (tree.root / "src/b.txt").unlink()
    (tree.root / "src/c.txt").rename(tree.root / "src/deep/c.txt")
    assert tree.changed() == {
        "a.txt": (b"a\n", b"A\n"),
        "new": (None, b"new"),
        "src/b.txt": (b"b\n", None),
        "src/c.txt": (b"c\n", None),
        "src/deep/c.txt": (None, b"c\n"),
    }
    (tree.root / "a.txt").write_bytes(b"a\n")
    (tree.root / "src/b.txt").write_bytes(b"again")
    (tree.root / "new").unlink()
    assert tree.changed() == {"a.txt": (b"A\n", b"a\n"), "new": (b"new", None), "src/b.txt": (None, b"again")}
    assert tree.everything == 0


def test_what_was_touched_and_is_as_it_was_does_not_differ(tree: Story) -> None:
    (tree.root / "a.txt").write_bytes(b"a\n")
    (tree.root / "src/b.txt").touch()
    assert tree.changed() == {}
    assert tree.everything == 0


def test_files_in_new_folders_are_found_and_these_are_watched_then(tree: Story) -> None:
    (tree.root / "new/er/est").mkdir(parents=True)
    (tree.root / "new/er/one").write_bytes(b"one")
    assert tree.changed() == {"new/er/one": (None, b"one")}
    (tree.root / "new/er/est/two").write_bytes(b"two")
    (tree.root / "new/er/one").write_bytes(b"1")
    assert tree.changed() == {"new/er/est/two": (None, b"two"), "new/er/one": (b"one", b"1")}
    assert tree.everything == 0


def test_folders_that_are_moved_or_deleted_take_their_files_along(tree: Story) -> None:
    (tree.root / "src").rename(tree.root / "lib")
    (tree.root / "lib/b.txt").write_bytes(b"B\n")
    assert tree.changed() == {
        "src/b.txt": (b"b\n", None),
        "src/c.txt": (b"c\n", None),
        "src/deep/d.txt": (b"d\n", None),
        "lib/b.txt": (None, b"B\n"),
        "lib/c.txt": (None, b"c\n"),
        "lib/deep/d.txt": (None, b"d\n"),
    }
    shutil.rmtree(tree.root / "lib/deep")
    (tree.root / "lib/deep").mkdir()
    (tree.root / "lib/deep/e.txt").write_bytes(b"e\n")
    assert tree.changed() == {"lib/deep/d.txt": (b"d\n", None), "lib/deep/e.txt": (None, b"e\n")}
    (tree.root / "lib/deep/e.txt").write_bytes(b"E\n")
    assert tree.changed() == {"lib/deep/e.txt": (b"e\n", b"E\n")}
    assert tree.everything == 0


def test_what_is_ignored_is_left_alone_without_a_look_at_everything(tree: Story) -> None:
    (tree.root / "ignored/in").mkdir(parents=True)
    (tree.root / "ignored/in/x").write_bytes(b"x")
    (tree.root / "y.log").write_bytes(b"y")
    assert tree.changed() == {}
    (tree.root / "ignored/in/x").write_bytes(b"z")
    assert tree.changed() == {}
    shutil.rmtree(tree.root / "ignored")
    (tree.root / "ignored").write_bytes(b"a file of that name is not ignored")
    assert tree.changed() == {"ignored": (None, b"a file of that name is not ignored")}
    assert tree.everything == 0


def test_a_file_that_git_has_in_a_folder_that_it_ignores_counts(tree: Story) -> None:
    (tree.root / "ignored").mkdir()
    (tree.root / "ignored/kept").write_bytes(b"1")
    tree.git("add", "--force", "ignored/kept")
    tree.changed()
    tree.rest()
    (tree.root / "ignored/kept").write_bytes(b"2")
    (tree.root / "ignored/other").write_bytes(b"3")
    assert tree.changed() == {"ignored/kept": (b"1", b"2")}


def test_other_rules_about_what_is_ignored_hold_at_once(tree: Story) -> None:
    (tree.root / "ignored").mkdir()
    (tree.root / "ignored/x").write_bytes(b"x")
    assert tree.changed() == {}
    (tree.root / ".gitignore").write_text("")
    assert tree.changed() == {".gitignore": (b"ignored/\n*.log\n", b""), "ignored/x": (None, b"x")}
    (tree.root / "ignored/x").write_bytes(b"y")
    assert tree.changed() == {"ignored/x": (b"x", b"y")}
    (tree.root / ".git/info/exclude").write_text("ignored/\n")
    (tree.root / "new").write_bytes(b"new")
    before = tree.before
    assert "new" in tree.changed()
    assert before.has("ignored/x")
    assert not tree.before.has("ignored/x")


def test_other_settings_of_the_user_hold_at_once(tree: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tree.root.parent / "config"))
    story = Story(tree.root)
    story.rest()
    (tree.root / "x.tmp").write_bytes(b"x")
    assert story.changed() == {"x.tmp": (None, b"x")}
    rules = tree.root.parent / "config/git/ignore"
    rules.parent.mkdir(parents=True)
    rules.write_text("*.tmp\n")
    (tree.root / "y.tmp").write_bytes(b"y")
    (tree.root / "x.tmp").unlink()
    assert story.changed() == {"x.tmp": (b"x", None)}
    story.surveyor.close()


def test_other_line_ends_hold_at_once(tree: Story) -> None:
    (tree.root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (tree.root / "a.txt").unlink()
    tree.git("checkout", "a.txt")
    tree.changed()
    tree.rest()
    (tree.root / "a.txt").write_bytes(b"A\r\n")
    assert tree.changed() == {"a.txt": (b"a\r\n", b"A\r\n")}


def test_what_the_project_counts_although_git_ignores_it_is_looked_at_as_a_whole(tree: Story) -> None:
    story = Story(tree.root, ignored=["!ignored/", "src/"])
    assert story.changed() == {}
    (tree.root / "ignored").mkdir()
    assert story.changed() == {}
    (tree.root / "ignored/x").write_bytes(b"x")
    (tree.root / "src/b.txt").write_bytes(b"else")
    assert story.changed() == {"ignored/x": (None, b"x")}


def test_what_the_project_leaves_out_is_left_out(tree: Story) -> None:
    story = Story(tree.root, ignored=["src/"])
    story.rest()
    for path in ("src/b.txt", "src/new", "new"):
        (tree.root / path).write_bytes(b"else")
    assert story.changed() == {"new": (None, b"else")}
    (tree.root / ".commonholdignore").write_text("new\n")
    (tree.root / "new").write_bytes(b"other")
    assert ".commonholdignore" in story.changed()
    (tree.root / "new").write_bytes(b"another")
    assert story.changed() == {}
    story.surveyor.close()


@pytest.mark.parametrize("path", ["a.txt", "new"])
def test_size_and_times_that_are_put_back_hide_nothing(tree: Story, path: str) -> None:
    place = tree.root / path
    place.write_bytes(b"a\n")
    tree.changed()
    status = place.stat()
    with place.open("r+b") as file:
        file.write(b"b\n")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert tree.changed() == {path: (b"a\n", b"b\n")}
    assert tree.everything == 0


def test_what_is_written_in_the_moment_in_which_git_looks_is_found(tree: Story) -> None:
    """Git's index and the file have one time then: only by its content git tells that it is another."""
    for number in range(5):
        content = b"%d\n" % number
        (tree.root / "a.txt").write_bytes(content)
        tree.git("add", "a.txt")
        (tree.root / "a.txt").write_bytes(b"x\n")
        assert tree.changed()["a.txt"][1] == b"x\n"
        (tree.root / "a.txt").write_bytes(content)
        assert tree.changed() == {"a.txt": (b"x\n", content)}


def test_what_others_change_between_two_looks_is_in_the_second(tree: Story) -> None:
    (tree.root / "a.txt").write_bytes(b"by another\n")
    before = tree.surveyor.look(tree.keep)
    (tree.root / "src/b.txt").write_bytes(b"by the command\n")
    found = tree.surveyor.changes(before, tree.surveyor.look(tree.keep), tree.keep)
    assert [change.path for change in found] == ["src/b.txt"]
    assert [change.path for change in tree.surveyor.changes(tree.before, before, tree.keep)] == ["a.txt"]
    assert tree.everything == 0


def test_looks_from_before_and_after_a_look_at_everything_are_compared(tree: Story) -> None:
    (tree.root / "a.txt").write_bytes(b"A\n")
    (tree.root / "new").write_bytes(b"new")
    tree.changed()
    (tree.root / "src/b.txt").write_bytes(b"B\n")
    (tree.root / "new").write_bytes(b"newer")
    tree.git("add", "a.txt")
    (tree.root / ".gitignore").touch()
    assert tree.changed() == {"src/b.txt": (b"b\n", b"B\n"), "new": (b"new", b"newer")}
    assert tree.everything == 1


def test_what_git_stages_and_commits_is_known_without_a_look_at_everything(tree: Story) -> None:
    (tree.root / "a.txt").write_bytes(b"A\n")
    (tree.root / "new").write_bytes(b"new")
    assert set(tree.changed()) == {"a.txt", "new"}
    tree.git("add", "-A")
    tree.git("commit", "-qm", "second")
    tree.git("rm", "-q", "-r", "src/deep")
    assert tree.changed() == {"src/deep/d.txt": (b"d\n", None)}
    tree.git("checkout", "-q", "--force", "HEAD~1")
    (tree.root / "src/b.txt").write_bytes(b"B\n")
    assert tree.changed() == {
        "a.txt": (b"A\n", b"a\n"),
        "new": (b"new", None),
        "src/b.txt": (b"b\n", b"B\n"),
        "src/deep/d.txt": (None, b"d\n"),
    }
    assert tree.everything == 0


def test_what_git_has_counts_from_the_moment_on_in_which_it_has_it(tree: Story) -> None:
    (tree.root / "y.log").write_bytes(b"y")
    assert tree.changed() == {}
    tree.git("add", "--force", "y.log")
    assert tree.changed() == {"y.log": (None, b"y")}
    (tree.root / "y.log").write_bytes(b"z")
    assert tree.changed() == {"y.log": (b"y", b"z")}
    tree.git("rm", "--cached", "-q", "--force", "y.log")
    tree.changed()
    (tree.root / "y.log").write_bytes(b"zz")
    assert tree.changed() == {}
    assert tree.everything == 0


def test_another_working_tree_of_the_repository_is_watched_as_well(tree: Story) -> None:
    tree.git("worktree", "add", "-q", "../other")
    story = Story(tree.root.parent / "other")
    story.rest()
    tree.everything = 0
    (story.root / "a.txt").write_bytes(b"A\n")
    assert story.changed() == {"a.txt": (b"a\n", b"A\n")}
    story.git("commit", "-qam", "second")
    (story.root / "new").write_bytes(b"new")
    assert story.changed() == {"new": (None, b"new")}
    assert tree.changed() == {}
    assert tree.everything == 0
    story.surveyor.close()


def test_commits_and_other_branches_are_told_by_content(tree: Story) -> None:
    (tree.root / "a.txt").write_bytes(b"A\n")
    assert tree.changed() == {"a.txt": (b"a\n", b"A\n")}
    tree.git("commit", "-qam", "second")
    assert tree.changed() == {}
    tree.git("checkout", "-q", "HEAD~1")
    assert tree.changed() == {"a.txt": (b"A\n", b"a\n")}


def test_a_new_surveyor_looks_at_everything(tree: Story) -> None:
    """So does a daemon that was just started: what happened meanwhile is in its first look."""
    (tree.root / "a.txt").write_bytes(b"A\n")
    story = Story(tree.root)
    story.everything = 0
    assert story.before.seen("a.txt") == story.surveyor.look(story.keep).seen("a.txt")
    (tree.root / "a.txt").write_bytes(b"a\n")
    assert story.changed() == {"a.txt": (b"A\n", b"a\n")}
    story.surveyor.close()


def test_where_the_queue_overflows_everything_is_looked_at(tree: Story) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    (tree.root / "src/b.txt").write_bytes(b"B\n")
    for number in range(most // 2 + 1):  # two that follow each other and are the same are one
        os.utime(tree.root / "a.txt", ns=(number, number))
        os.utime(tree.root / "src/c.txt", ns=(number, number))
    (tree.root / "src/deep/d.txt").write_bytes(b"D\n")
    assert tree.changed() == {"src/b.txt": (b"b\n", b"B\n"), "src/deep/d.txt": (b"d\n", b"D\n")}
    assert tree.everything == 1
    (tree.root / "a.txt").write_bytes(b"A\n")
    assert tree.changed() == {"a.txt": (b"a\n", b"A\n")}
    assert tree.everything == 1


@pytest.mark.parametrize("when", ["at the start", "with the first new folder"])
def test_where_no_more_can_be_watched_everything_is_looked_at(
    tree: Story, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:

    def refused(_descriptor: int, place: str) -> int:
        raise OSError(28, "no space left on device", place)

    monkeypatch.setattr(folder_watch, "_watched", refused)
    story = Story(tree.root) if when == "at the start" else tree
    for number in range(2):
        (tree.root / "new").mkdir(exist_ok=True)
        (tree.root / "new/x").write_bytes(b"%d" % number)
        (tree.root / "a.txt").write_bytes(b"%d" % number)
        assert set(story.changed()) == {"new/x", "a.txt"}
    assert tree.everything >= 2


def test_where_no_folder_can_be_watched_at_all_everything_is_looked_at(
    tree: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FolderWatch, "begin", lambda *_: False)
    story = Story(tree.root)
    for content in (b"1", b"2"):
        (tree.root / "a.txt").write_bytes(content)
        assert set(story.changed()) == {"a.txt"}


def test_where_git_failed_in_a_look_the_next_one_is_at_everything(tree: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree.root / "new").write_bytes(b"new")
    with monkeypatch.context() as failing:
        failing.setattr(surveyor, "listed_among", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tree.changed()
    assert tree.changed() == {"new": (None, b"new")}
    assert tree.everything == 1


def test_more_files_than_are_worth_it_are_looked_at_with_everything(tree: Story) -> None:
    for number in range(MOST_SINCE + 1):
        (tree.root / f"n{number}").write_bytes(b"n")
    assert len(tree.changed()) == MOST_SINCE + 1
    assert tree.everything == 1


def test_what_is_written_through_another_link_is_found(tree: Story) -> None:
    outside = tree.root.parent / "outside"
    os.link(tree.root / "a.txt", outside)
    story = Story(tree.root)
    story.rest()
    for content in (b"again\n", b"more\n"):
        outside.write_bytes(content)
        assert set(story.changed()) == {"a.txt"}
    tree.git("add", "a.txt")
    for content in (b"last\n", b"very last\n"):
        outside.write_bytes(content)
        assert set(story.changed()) == {"a.txt"}
    story.surveyor.close()


def test_what_is_written_through_a_link_in_the_tree_that_is_new_is_found(tree: Story) -> None:
    os.link(tree.root / "a.txt", tree.root / "src/a.txt")
    assert tree.changed() == {"src/a.txt": (None, b"a\n")}
    (tree.root / "src/a.txt").write_bytes(b"A\n")
    assert tree.changed() == {"a.txt": (b"a\n", b"A\n"), "src/a.txt": (b"a\n", b"A\n")}
    assert tree.everything == 1


def test_what_is_written_through_a_mapping_is_found_when_that_has_ended(tree: Story) -> None:
    with (tree.root / "a.txt").open("r+b") as file:
        mapping = mmap.mmap(file.fileno(), 2)
    with mapping:
        assert tree.changed() == {}
        mapping[:] = b"1\n"
    assert tree.changed() == {"a.txt": (b"a\n", b"1\n")}
    assert tree.everything == 0


def test_a_repository_inside_is_none_of_it_and_when_it_is_none_any_more_its_files_are(tree: Story) -> None:
    inner = tree.root / "inner"
    inner.mkdir()
    subprocess.run((*GIT, "init", "-q"), cwd=inner, check=True)
    (inner / "x").write_bytes(b"x")
    (inner / "sub").mkdir()
    assert tree.changed() == {}
    (inner / "sub/y").write_bytes(b"y")
    (inner / "x").write_bytes(b"xx")
    assert tree.changed() == {}
    shutil.rmtree(inner / ".git")
    assert tree.changed() == {"inner/x": (None, b"xx"), "inner/sub/y": (None, b"y")}
    (inner / "sub/y").write_bytes(b"yy")
    assert tree.changed() == {"inner/sub/y": (b"y", b"yy")}


@pytest.mark.parametrize("become", [Path.mkdir, os.mkfifo, lambda place: place.symlink_to("src/b.txt")])
def test_a_file_that_becomes_something_else_is_gone(tree: Story, become: Callable[[Path], object]) -> None:
    (tree.root / "a.txt").unlink()
    become(tree.root / "a.txt")
    assert tree.changed() == {"a.txt": (b"a\n", None)}
    assert tree.everything == 0


def test_names_that_are_no_text_are_passed_over(tree: Story) -> None:
    (tree.root / os.fsdecode(b"\xff")).mkdir()
    for name in (b"\xff/x", b"\xfe", b"line\nend"):
        (tree.root / os.fsdecode(name)).touch()
    (tree.root / "*.txt").write_bytes(b"a name, no pattern")
    assert tree.changed() == {"*.txt": (None, b"a name, no pattern")}


def test_what_is_closed_watches_nothing_and_still_looks(tree: Story) -> None:
    tree.surveyor.close()
    tree.surveyor.close()
    for content in (b"1", b"2"):
        (tree.root / "a.txt").write_bytes(content)
        assert set(tree.changed()) == {"a.txt"}
    assert tree.everything == 2


NAMES = st.sampled_from(["a.txt", "src/b.txt", "src/deep/d.txt", "new", "src/new", "more/new", "ignored/x", "x.log"])
FOLDERS = st.sampled_from(["src", "src/deep", "more", "ignored", "other"])


def write(story: Story, path: str, _folder: str, content: bytes) -> None:
    place = story.root / path
    if not any(each.is_file() for each in place.parents):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def remove(story: Story, path: str, *_: object) -> None:
    (story.root / path).unlink(missing_ok=True)


def clear(story: Story, _path: str, folder: str, _content: bytes) -> None:
    shutil.rmtree(story.root / folder, ignore_errors=True)


def move(story: Story, _path: str, folder: str, _content: bytes) -> None:
    if (story.root / folder).is_dir() and not (story.root / "other").exists():
        (story.root / folder).rename(story.root / "other")


def rule(story: Story, _path: str, folder: str, content: bytes) -> None:
    (story.root / ".gitignore").write_text(f"{folder}/\n" if content == b"b\n" else "*.log\n")


def stage(story: Story, *_: object) -> None:
    story.git("add", "-A")


def reset(story: Story, *_: object) -> None:
    story.git("reset", "-q", "--hard")


Deed = tuple[Callable[[Story, str, str, bytes], None], str, str, bytes]
DEED = st.tuples(
    st.sampled_from([write, write, write, remove, clear, move, rule, stage, reset]),
    NAMES,
    FOLDERS,
    st.sampled_from([b"a\n", b"b\n", b"other\n"]),
)


@settings(examples(0.25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(DEED, max_size=4), min_size=2, max_size=4))
def test_any_story_is_told_as_looks_at_everything_tell_it(tree: Story, chapters: list[list[Deed]]) -> None:
    for deeds in chapters:
        expected = Story(tree.root)
        tree.changed()
        time.sleep(TICK_SECONDS)
        for deed, path, folder, content in deeds:
            deed(tree, path, folder, content)
        expected.surveyor.close()
        assert tree.changed() == expected.changed()
