"""Workspaces of both kinds: what is in them, and that no work is lost when they are removed."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.session_host.repository import Project, git, mounted_below, projects

from commonhold.config import OverlayUse
from commonhold.kernel.errors import StoreError


@pytest.fixture(params=[OverlayUse.NEVER, OverlayUse.ALWAYS])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Project]:
    yield from projects(tmp_path, request.param)


def test_a_workspace_is_a_clean_worktree_of_the_base_on_a_branch_of_its_own(project: Project) -> None:
    base = project.head
    session = project.session()
    project.write("a.py", "changed = True\n")
    project.commit("two")
    note = project.worktrees.make(session, 1)
    place = Path(note.path)
    assert git(place, "status", "--porcelain") == ""
    assert (git(place, "rev-parse", "HEAD"), git(place, "branch", "--show-current")) == (base, "agent/s1")
    assert project.files.note("s1") == note


def test_ignored_files_are_copied_by_the_list_and_no_others(project: Project) -> None:
    project.write(".worktreeinclude", ".env\na.py\nuntracked.txt\n")
    project.commit("list")
    for name in (".env", "x.log", "untracked.txt"):
        project.write(name, name)
    place = Path(project.worktrees.make(project.session(), 1).path)
    assert (place / ".env").read_text() == ".env"
    assert not (place / "x.log").exists()
    assert not (place / "untracked.txt").exists()


def test_a_repository_in_an_ignored_folder_is_copied_by_the_list(project: Project) -> None:
    project.write(".worktreeinclude", "vendor/\n")
    project.write(".gitignore", "vendor/\n")
    project.commit("list")
    library = project.root / "vendor/lib"
    library.mkdir(parents=True)
    git(library, "init", "--quiet")
    (library / "l.py").write_text("")
    (library / "gone").symlink_to("/nowhere")
    place = Path(project.worktrees.make(project.session(), 1).path)
    assert (place / "vendor/lib/l.py").is_file()
    assert (place / "vendor/lib/gone").is_symlink()


def test_a_copy_by_the_list_changes_nothing_of_the_base_nor_outside_of_the_workspace(project: Project) -> None:
    outside = project.root.parent / "outside"
    outside.mkdir()
    (outside / "key").write_text("theirs")
    project.write(".worktreeinclude", "links/\nkey\nplain/\n")
    (project.root / "links").symlink_to(outside)
    (project.root / "key").symlink_to(outside / "key")
    project.write("plain", "a file of the base")
    project.commit("links")
    session = project.session()
    for each in ("links", "key", "plain"):
        git(project.root, "rm", "--quiet", "--cached", each)
        (project.root / each).unlink()
    project.write(".git/info/exclude", "links/\nkey\nplain/\n")
    for each in ("links", "plain"):
        (project.root / each).mkdir()
        project.write(f"{each}/new", "mine")
    project.write("key", "mine")
    place = Path(project.worktrees.make(session, 1).path)
    assert {each.name: each.read_text() for each in outside.iterdir()} == {"key": "theirs"}
    assert (place / "plain").read_text() == "a file of the base"


@pytest.mark.parametrize("content", [b"\xff\n", b"a\0b\n", b"", b"x" * 9_000, b"\n"])
def test_whatever_an_agent_writes_into_the_record_of_git_the_workspace_can_be_removed(
    project: Project, content: bytes
) -> None:
    note = project.worktrees.make(project.session(), 1)
    Path(note.git_dir, "gitdir").write_bytes(content)
    project.worktrees.remove(note)
    assert not Path(note.path).exists()
    assert project.files.note("s1") is None


def test_all_work_is_kept_and_neither_branch_nor_index_changes(project: Project) -> None:
    note = project.worktrees.make(project.session(), 1)
    place = Path(note.path)
    (place / "b.py").write_text("committed = 1\n")
    git(place, "add", "b.py")
    git(place, "commit", "--quiet", "--message", "by the agent")
    tip = git(place, "rev-parse", "HEAD")
    (place / "a.py").unlink()
    (place / "new.py").write_text("uncommitted = 1\n")
    (place / "staged.py").write_text("staged = 1\n")
    git(place, "add", "staged.py")
    before = git(place, "status", "--porcelain")

    result, is_complete = project.worktrees.harvest(note)

    assert (result.tip, result.has_uncommitted, is_complete) == (tip, True, True)
    assert git(place, "status", "--porcelain") == before
    assert project.ref("agent/s1") == tip
    assert project.ref("refs/commonhold/sessions/s1/1") == result.snapshot
    names = git(project.root, "ls-tree", "--name-only", result.snapshot).split()
    assert names == [".gitignore", "b.py", "new.py", "staged.py"]


def test_work_that_is_kept_twice_keeps_the_commit_that_was_reported(project: Project) -> None:
    note = project.worktrees.make(project.session(), 1)
    Path(note.path, "new.py").write_text("uncommitted = 1\n")
    first, _ = project.worktrees.harvest(note)
    time.sleep(1.1)  # commits of different seconds differ
    assert project.worktrees.harvest(note)[0] == first
    assert project.ref("refs/commonhold/sessions/s1/1") == first.snapshot
    Path(note.path, "new.py").write_text("uncommitted = 2\n")
    later, _ = project.worktrees.harvest(note)
    assert project.ref("refs/commonhold/sessions/s1/1") == later.snapshot != first.snapshot


def test_a_workspace_without_changes_has_its_tip_as_snapshot(project: Project) -> None:
    result, _ = project.worktrees.harvest(project.worktrees.make(project.session(), 1))
    assert (result.tip, result.snapshot) == (project.head, project.head)


def test_a_removed_workspace_leaves_no_trace_but_its_refs(project: Project) -> None:
    other = Path(project.root.parent, "other")
    git(project.root, "worktree", "add", "--quiet", str(other), "-b", "other")
    other.rename(other.with_name("unmounted"))
    note = project.worktrees.make(project.session(), 1)
    (Path(note.path) / "b.py").write_text("b = 1\n")
    closed = Path(note.path, "closed")
    closed.mkdir()
    (closed / "x.log").write_text("ignored\n")
    closed.chmod(0o500)
    result, _ = project.worktrees.harvest(note)
    project.worktrees.remove(note)
    waits: list[float] = []
    project.worktrees.empty_trash(waits.append)
    assert waits
    left = {each.relative_to(project.files.workspaces) for each in project.files.workspaces.rglob("*")}
    assert all(each.parts[:2] in ((".overlays",), (".overlays", "bases"), (".overlays", "layers")) for each in left)
    assert mounted_below(project.files.workspaces) == []
    assert project.files.note("s1") is None
    listed = git(project.root, "worktree", "list", "--porcelain")
    assert "s1.1" not in listed
    assert str(other) in listed, "another worktree, whose folder is away, is still known"
    assert git(project.root, "show", f"{result.snapshot}:b.py") == "b = 1"


def test_a_second_harvest_after_the_removal_does_not_lose_the_first(project: Project) -> None:
    note = project.worktrees.make(project.session(), 1)
    (Path(note.path) / "b.py").write_text("b = 1\n")
    first, _ = project.worktrees.harvest(note)
    project.worktrees.remove(note)
    second, _ = project.worktrees.harvest(note)
    assert second == first
    assert project.ref("refs/commonhold/sessions/s1/1") == first.snapshot


def test_a_workspace_that_somebody_removed_by_hand_still_gives_its_commits(project: Project) -> None:
    note = project.worktrees.make(project.session(), 1)
    git(Path(note.path), "commit", "--quiet", "--allow-empty", "--message", "by the agent")
    tip = project.ref("agent/s1")
    removed = ("git", "worktree", "remove", "--force", "--force", note.path)
    assert (
        subprocess.run(removed, cwd=project.root, check=False, capture_output=True).returncode == bool(note.below) * 255
    )
    result, _ = project.worktrees.harvest(note)
    project.worktrees.remove(note)
    assert result.tip == tip


def test_a_later_attempt_begins_at_the_base_and_keeps_the_former_commits(project: Project) -> None:
    session = project.session()
    first = project.worktrees.make(session, 1)
    git(Path(first.path), "commit", "--quiet", "--allow-empty", "--message", "first try")
    former = project.ref("agent/s1")
    project.worktrees.harvest(first)
    project.worktrees.remove(first)
    second = project.worktrees.make(session, 2)
    assert git(Path(second.path), "rev-parse", "HEAD") == session.base
    assert project.ref("refs/commonhold/sessions/s1/1") == former
    assert project.ref("refs/commonhold/sessions/s1/before-2") == former


def test_a_branch_of_the_user_with_that_name_is_not_touched(project: Project) -> None:
    git(project.root, "branch", "agent/s1")
    with pytest.raises(StoreError, match="already exists"):
        project.worktrees.make(project.session(), 1)
    assert not project.files.workspace("s1", 1).exists()


def test_a_repository_in_the_workspace_keeps_it_from_being_harvested_completely(project: Project) -> None:
    note = project.worktrees.make(project.session(), 1)
    nested = Path(note.path, "nested")
    nested.mkdir()
    git(nested, "init", "--quiet")
    git(nested, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message", "x")
    _, is_complete = project.worktrees.harvest(note)
    assert not is_complete


def test_neither_hooks_nor_a_rewritten_git_file_are_used(project: Project) -> None:
    note = project.worktrees.make(project.session(), 1)
    place = Path(note.path)
    hook = project.root / ".git" / "hooks" / "post-index-change"
    hook.write_text('#!/bin/sh\ntouch "$PWD/../hooked"\n')
    hook.chmod(0o755)
    (place / "b.py").write_text("b = 1\n")
    (place / ".git").write_text("gitdir: /nowhere\n")
    result, is_complete = project.worktrees.harvest(note)
    assert is_complete
    assert result.has_uncommitted
    assert not (place.parent / "hooked").exists()


@pytest.fixture
def with_library(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with the submodule `library`, which has the submodule `deep/part`."""
    for name, value in (("COUNT", "1"), ("KEY_0", "protocol.file.allow"), ("VALUE_0", "always")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    part, library = (Project(project.root.parent / name) for name in ("part", "library"))
    git(library.root, "submodule", "--quiet", "add", str(part.root), "deep/part")
    library.commit("part")
    git(project.root, "submodule", "--quiet", "add", str(library.root), "library")
    git(project.root, "submodule", "--quiet", "update", "--init", "--recursive")
    project.commit("library")
    for each in (part, library):  # a workspace needs neither
        each.root.rename(f"{each.root}.away")
    return project


def test_submodules_are_there_without_a_remote(with_library: Project) -> None:
    place = Path(with_library.worktrees.make(with_library.session(), 1).path)
    assert (place / "library/a.py").is_file()
    assert (place / "library/deep/part/a.py").is_file()
    assert git(place, "status", "--porcelain", "--ignore-submodules=none") == ""
    assert git(place / "library", "config", "remote.origin.url").endswith("/library/project")


@pytest.mark.parametrize("name", ["{theirs}", "../../../theirs/.git", "..", "library/../../..", "."])
def test_a_name_of_a_submodule_reaches_no_other_repository(with_library: Project, name: str) -> None:
    theirs = Project(with_library.root.parent, name="theirs")
    listed = with_library.root / ".gitmodules"
    name = name.format(theirs=theirs.root / ".git")
    listed.write_text(listed.read_text().replace('"library"', f'"{name}"'))
    with_library.commit("rename")
    note = with_library.worktrees.make(with_library.session(), 1)
    assert note.submodules == ()
    assert not [*Path(note.path, "library").iterdir()]


def test_a_submodule_is_declared_where_the_commit_has_none(with_library: Project) -> None:
    (with_library.root / "plain").mkdir()
    with_library.write("plain/p.py", "")
    listed = with_library.root / ".gitmodules"
    for path in ("plain", "../theirs", "/theirs", ".", "library/"):
        listed.write_text(f'{listed.read_text()}[submodule "{path}"]\n\tpath = {path}\n\turl = x\n')
    with_library.commit("declare")
    note = with_library.worktrees.make(with_library.session(), 1)
    assert [each.path for each in note.submodules] == ["library", "library/deep/part"]


def test_work_in_submodules_is_kept_in_the_repository_of_each(with_library: Project) -> None:
    note = with_library.worktrees.make(with_library.session(), 1)
    library, part = Path(note.path, "library"), Path(note.path, "library/deep/part")
    (library / "b.py").write_text("committed = 1\n")
    git(library, "add", "b.py")
    git(library, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "by the agent")
    tip = git(library, "rev-parse", "HEAD")
    (library / "c.py").write_text("uncommitted = 1\n")
    (part / "d.py").write_text("deep = 1\n")

    result, is_complete = with_library.worktrees.harvest(note)
    with_library.worktrees.remove(note)
    with_library.worktrees.empty_trash()

    assert is_complete
    assert git(with_library.root, "rev-parse", f"{result.snapshot}:library") == tip
    kept = "refs/commonhold/sessions/s1/1"
    assert git(with_library.root / "library", "rev-parse", f"{kept}^") == tip
    assert git(with_library.root / "library", "show", f"{kept}:c.py") == "uncommitted = 1"
    assert git(with_library.root / "library/deep/part", "show", f"{kept}:d.py") == "deep = 1"


def test_a_submodule_that_the_agent_has_fetched_keeps_the_workspace(with_library: Project) -> None:
    (with_library.root / ".git/modules").rename(with_library.root.parent / "modules")
    note = with_library.worktrees.make(with_library.session(), 1)
    assert not [*Path(note.path, "library").iterdir()]
    url = with_library.root.parent / "library/project.away"
    git(Path(note.path), "-c", f"submodule.library.url={url}", "submodule", "--quiet", "update", "--init", "library")
    Path(note.path, "library/b.py").write_text("only = 'here'\n")
    _, is_complete = with_library.worktrees.harvest(note)
    assert not is_complete


def test_a_submodule_that_is_no_repository_any_more_keeps_the_workspace(with_library: Project) -> None:
    note = with_library.worktrees.make(with_library.session(), 1)
    Path(note.path, "library/.git").rename(Path(note.path, "library/git"))
    _, is_complete = with_library.worktrees.harvest(note)
    assert not is_complete
