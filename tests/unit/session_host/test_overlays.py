"""Overlays as workspaces: what lies below never changes, and their layers are found again after a restart."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.session_host.repository import Project, git, mounted_below, projects

from commonhold.config import OverlayUse
from commonhold.kernel.errors import StoreError
from commonhold.kernel.managed_session import Sandbox
from commonhold.session_host import overlays, worktrees
from commonhold.session_host.bubblewrap import boxed
from commonhold.session_host.overlays import BASES, Overlays
from commonhold.session_host.session_files import WorkspaceNote
from commonhold.session_host.worktrees import Worktrees
from commonhold.workspace.git.process import Git


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    yield from projects(tmp_path, OverlayUse.ALWAYS)


def made(project: Project, session: str = "s1") -> tuple[WorkspaceNote, Path]:
    note = project.worktrees.make(project.session(session), 1)
    assert mounted_below(project.files.workspaces).count(note.path) == 1
    return note, Path(note.path)


def bases(project: Project) -> list[str]:
    return git(project.root, "for-each-ref", "--format=%(refname:lstrip=3)", BASES).split()


def after_restart(project: Project, note: WorkspaceNote) -> Worktrees:
    """The machine was restarted: nothing is mounted, and the files of the base may be damaged."""
    subprocess.run(["umount", note.path], check=True)
    for each in (project.files.workspaces / ".overlays/bases").rglob("a.py"):
        each.write_bytes(b"")
    anew = Worktrees(Git(str(project.root)), project.files)
    anew._overlays = Overlays(project.files.workspaces / ".overlays", "another boot")
    return anew


def without_mount(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave git, and no program that mounts, on the PATH."""
    only_git = project.root.parent / "bin"
    only_git.mkdir()
    (only_git / "git").symlink_to(shutil.which("git") or "")
    (only_git / "mount").write_text("#!/bin/sh\necho not permitted >&2; exit 1\n")
    (only_git / "mount").chmod(0o755)
    monkeypatch.setenv("PATH", f"{only_git}:{os.defpath.rpartition(':')[2]}")


def test_changes_of_a_person_or_of_another_session_do_not_appear_in_a_running_one(project: Project) -> None:
    (_, first), (_, second) = made(project), made(project, "s2")
    project.write("a.py", "changed = 1\n")
    project.write("b.py", "new = 1\n")
    project.commit("two")
    (second / "a.py").write_text("changed = 2\n")
    (second / ".gitignore").unlink()
    assert git(first, "status", "--porcelain") == ""
    assert sorted(each.name for each in first.iterdir()) == [".git", ".gitignore", "a.py"]
    assert (first / "a.py").read_text() == "def f():\n    return 1\n"
    third = project.worktrees.make(replace(project.session("s3"), base=git(first, "rev-parse", "HEAD")), 1)
    assert git(Path(third.path), "status", "--porcelain") == "", "its base is as it was"


def test_a_later_commit_needs_no_base_of_its_own_unless_it_differs_much(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(project)
    project.write("a.py", "changed = 1\n")
    project.write("b.py", "new = 1\n")
    project.commit("two")
    note, place = made(project, "s2")
    assert len(bases(project)) == 1
    assert (place / "a.py").read_text() == "changed = 1\n"
    assert (git(place, "status", "--porcelain"), git(place, "rev-parse", "HEAD")) == ("", project.head)
    monkeypatch.setattr(overlays, "MOST_CHANGED", 1)
    other, _ = made(project, "s3")
    assert other.below != note.below
    assert len(bases(project)) == 2


def test_settings_that_change_the_files_are_a_base_of_their_own(project: Project) -> None:
    made(project)
    git(project.root, "config", "core.autocrlf", "true")
    _, place = made(project, "s2")
    assert b"\r\n" in (place / "a.py").read_bytes()
    assert git(place, "status", "--porcelain") == ""


@pytest.mark.parametrize("goes_on", [True, False])
def test_after_a_restart_of_the_machine_the_work_is_still_there(project: Project, *, goes_on: bool) -> None:
    note, place = made(project)
    (place / "b.py").write_text("b = 1\n")
    (place / ".gitignore").unlink()
    anew = after_restart(project, note)
    if goes_on:
        assert anew.is_there(note)
        assert git(place, "status", "--porcelain").split() == ["D", ".gitignore", "??", "b.py"]
        assert (place / "a.py").read_text() == "def f():\n    return 1\n"
    result, is_complete = anew.harvest(note)
    anew.remove(note)
    anew.empty_trash(lambda _: None)
    assert is_complete
    assert git(project.root, "ls-tree", "--name-only", result.snapshot).split() == ["a.py", "b.py"]
    assert git(project.root, "show", f"{result.snapshot}:a.py") == "def f():\n    return 1"
    assert not place.exists()
    assert [each.name for each in (project.files.workspaces / ".overlays/bases").iterdir()] == ["another boot"]
    assert bases(project) == [note.below]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_the_work_in_a_sandbox_on_an_overlay_comes_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (home := project.root.parent / "home").mkdir()
    monkeypatch.setenv("HOME", str(home))
    note, _ = made(project)
    note = boxed(project.session(sandbox=Sandbox.BUBBLEWRAP), note, project.files, project.worktrees.common_dir)
    git_as = "git -c user.name=a -c user.email=a@b"
    line = f"mkdir new && git mv a.py new/ && {git_as} commit -qm one && echo 2 > b.py && git status --porcelain"
    layers = project.files.workspaces / ".overlays"
    words = (*note.box, "/bin/sh", "-c", f"{line} && ! touch {layers}/bases/x")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "?? b.py\n"), done
    result, is_complete = project.worktrees.harvest(note)
    assert is_complete
    names = git(project.root, "ls-tree", "-r", "--name-only", result.snapshot).split()
    assert names == [".gitignore", "b.py", "new/a.py"]


def test_a_workspace_in_which_a_process_still_stands_is_removed(project: Project) -> None:
    note, place = made(project)
    with subprocess.Popen(["cat"], cwd=place, stdin=subprocess.PIPE) as standing:
        project.worktrees.harvest(note)
        project.worktrees.remove(note)
        assert not place.exists()
        assert mounted_below(project.files.workspaces) == []
        standing.communicate(b"")


def test_bases_that_no_workspace_stands_on_go_except_the_newest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlays, "MOST_CHANGED", 0)
    notes = []
    for number in range(3):
        project.write("a.py", f"x = {number}\n")
        project.commit("next")
        notes.append(made(project, f"s{number}")[0])
        os.utime(
            project.files.workspaces / ".overlays/bases" / overlays.this_boot() / notes[-1].below, (number, number)
        )
    for each in notes[1:]:
        project.worktrees.remove(each)
    project.worktrees.empty_trash(lambda _: None)
    assert {*bases(project)} == {notes[0].below, notes[2].below}
    (project.files.of_session("s0") / "workspace.json").write_text("{")
    project.worktrees.empty_trash(lambda _: None)
    project.files.drop_note("s0")
    project.worktrees.empty_trash(lambda _: None)
    assert git(Path(notes[0].path), "status", "--porcelain") == "", "it is mounted, with or without a note"
    subprocess.run(["umount", notes[0].path], check=True)
    project.worktrees.empty_trash(lambda _: None)
    assert bases(project) == [notes[2].below]
    assert not project.files.trash.exists()


def test_a_machine_that_cannot_mount_gets_plain_worktrees(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    without_mount(project, monkeypatch)
    with pytest.raises(StoreError, match="no overlay can be mounted"):
        project.worktrees.make(project.session(), 1)
    monkeypatch.setattr(worktrees, "_LARGE_INDEX_BYTES", 1)
    files = replace(project.files, overlays=OverlayUse.AUTO)
    note = Worktrees(Git(str(project.root)), files).make(project.session("s2"), 1)
    assert (note.below, git(Path(note.path), "status", "--porcelain")) == ("", "")
    assert bases(project) == []


def test_a_machine_that_has_lost_the_right_to_mount_makes_a_checkout(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(project)
    without_mount(project, monkeypatch)
    with pytest.raises(StoreError, match="not permitted"):
        project.worktrees.make(project.session("s2"), 1)
    monkeypatch.setattr(worktrees, "_LARGE_INDEX_BYTES", 1)
    files = replace(project.files, overlays=OverlayUse.AUTO)
    note = Worktrees(Git(str(project.root)), files).make(project.session("s3"), 1)
    assert files.note("s3") == note
    assert (note.below, git(Path(note.path), "status", "--porcelain")) == ("", "")
    (Path(note.path) / "b.py").write_text("b = 1\n")
    assert project.worktrees.harvest(note)[0].has_uncommitted


@pytest.mark.parametrize("setting", ["small", "sparse"])
def test_small_and_sparse_repositories_need_no_overlay(
    project: Project, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if setting == "sparse":
        monkeypatch.setattr(worktrees, "_LARGE_INDEX_BYTES", 1)
        git(project.root, "sparse-checkout", "set", "--no-cone", "a.py")
    files = replace(project.files, overlays=OverlayUse.AUTO)
    note = Worktrees(Git(str(project.root)), files).make(project.session(), 1)
    assert (note.below, (Path(note.path) / "a.py").is_file()) == ("", True)
    assert (Path(note.path) / ".gitignore").is_file() is (setting == "small")
