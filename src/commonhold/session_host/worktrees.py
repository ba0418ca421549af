"""Workspaces of managed sessions as git worktrees: made, harvested, and removed without losing work.

In a large repository their files are an overlay above a shared checkout, if the machine can mount one; all else is the
same: the branch, git's folder for the worktree, the harvest.

Git runs here without the hooks and monitors of the repository, and finds the folder of the worktree by a note made
before the agent began: an agent can rewrite `.git` in its workspace.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final

from commonhold.config import OverlayUse
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import ManagedSession, SessionResult
from commonhold.kernel.refs import full_ref
from commonhold.session_host.overlays import Overlays, this_boot
from commonhold.session_host.sandbox import BRANCHES
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote
from commonhold.session_host.submodules import REFS, harvest_submodule, make_submodules, snapshot_of
from commonhold.workspace.git.process import Git, failed

INCLUDE: Final = ".worktreeinclude"
_HASH: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_LONGEST_LINE: Final = 5_000
_LARGE_INDEX_BYTES: Final = 256 << 10
"""The size of git's index from which on an overlay is worth its base: some three thousand files."""


def branch_of(session: str) -> str:
    """Return the branch of a session."""
    return f"agent/{session}"


class Worktrees:
    """The workspaces of one repository, whose main working tree is at `git.root`."""

    def __init__(self, git: Git, files: SessionFiles) -> None:
        """Keep them at the places that `files` names."""
        self._git = git
        self._files = files
        self._overlays = Overlays(files.workspaces / ".overlays", this_boot())

    @cached_property
    def common_dir(self) -> Path:
        """The git folder that all worktrees share."""
        found = self._git.ask("rev-parse", "--path-format=absolute", "--git-common-dir")
        return Path(os.path.realpath(os.fsdecode(found.rstrip(b"\n"))))

    def make(self, session: ManagedSession, attempt: int) -> WorkspaceNote:
        """Make the workspace of an attempt: a worktree at the base, with the ignored files that the project lists.

        The branch of an earlier attempt begins anew; its former commits are kept under refs/commonhold/sessions/ID.
        Raises StoreError `GIT_FAILED`, `IO_FAILED`, OSError.
        """
        self._files.workspaces.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = Path(os.path.realpath(self._files.workspace(session.id, attempt)))
        branch = branch_of(session.id)
        with self._files.making_worktrees():
            begins = "-b"
            quiet = ("rev-parse", "--verify", "--quiet", full_ref(branch))
            if attempt > 1 and (former := self._git.line(*quiet)) is not None:
                begins = "-B"
                self._git.ask("update-ref", f"{REFS}/{session.id}/before-{attempt}", former)
            below = self._base_for(session.base)
            reason = f"the workspace of session {session.id}"
            words = ("worktree", "add", "--quiet", "--no-track", "--lock", "--reason", reason, begins, branch)
            done = self._git.run(*words, *(("--no-checkout",) if below else ()), str(path), session.base)
            if done.returncode:
                raise failed("worktree add", done)
            git_dir = os.path.realpath(path / (path / ".git").read_text().removeprefix("gitdir:").strip())
            note = WorkspaceNote(session.id, attempt, str(path), git_dir, session.teardown, session.base, below=below)
            self._files.put_note(note)  # a base that a note names is kept
        if below:
            note = self._lay(note)
        if (path / ".gitmodules").is_file():
            note = replace(note, submodules=make_submodules(path, self.common_dir))
            self._files.put_note(note)
        self._include(session.root, path)
        return note

    def _base_for(self, commit: str) -> str:
        """Return the base of an overlay for a commit; empty if the workspace shall be a plain worktree."""
        choice = self._files.overlays
        if choice is OverlayUse.NEVER:
            return ""
        index = self.common_dir / "index"
        is_large = index.is_file() and index.stat().st_size >= _LARGE_INDEX_BYTES
        if choice is OverlayUse.AUTO and not is_large:
            return ""
        base = self._overlays.base_for(self._git, self.common_dir, commit)
        if base is None and choice is OverlayUse.ALWAYS:
            raise StoreError(
                Code.IO_FAILED,
                f"no overlay can be mounted in {self._files.workspaces}, and the setting `overlays` is `always`",
                hint="set it to `auto`, let the daemon run as a user who may mount, or set COMMONHOLD_WORKSPACES to a "
                "folder on a disk",
            )
        return base or ""

    def _lay(self, note: WorkspaceNote) -> WorkspaceNote:
        """Fill a new worktree by an overlay, or by a checkout if the overlay cannot be mounted after all."""
        path = Path(note.path)
        upper = self._overlays.layers(path) / "upper"
        upper.mkdir(parents=True)
        # Git's file is in both places, so that the folder is a worktree even while nothing is mounted.
        shutil.copyfile(path / ".git", upper / ".git")
        try:
            self._overlays.mount(note.below, path, self._git, self.common_dir)
        except StoreError:
            shutil.rmtree(self._overlays.layers(path))
            if self._files.overlays is OverlayUse.ALWAYS:
                raise
            note = replace(note, below="")
            self._files.put_note(note)
            Git(note.path).ask("reset", "--hard", "--quiet", "--no-recurse-submodules")
        else:
            self._overlays.fill(note.below, note.base, path, Path(note.git_dir))
        return note

    def is_there(self, note: WorkspaceNote) -> bool:
        """Whether a workspace has not been removed. An overlay is mounted, too: a restart of the machine unmounts it.

        Raises StoreError `GIT_FAILED`, `IO_FAILED`.
        """
        path = Path(note.path)
        if not note.below:
            return path.is_dir()
        if not self._overlays.layers(path).is_dir():
            return False
        if not os.path.ismount(path):
            with self._files.making_worktrees():
                self._overlays.mount(note.below, path, self._git, self.common_dir)
        # A person's `git worktree remove` empties it, and cannot remove the mount itself.
        return Path(note.git_dir).is_dir() or any(path.iterdir())

    def _include(self, root: str, path: Path) -> None:
        """Copy the ignored files that match the patterns in `.worktreeinclude`, from the starter's working tree."""
        patterns = Path(root, INCLUDE)
        if not patterns.is_file():
            return
        source = Git(root)
        listed = source.ask("ls-files", "-z", "--others", "--ignored", f"--exclude-from={patterns}")
        ignored = source.run("check-ignore", "-z", "--stdin", given=listed).stdout
        for name in ignored.split(b"\0"):
            place = path / os.fsdecode(name)
            if name and _is_free(place, path):
                _copy(Path(root, os.fsdecode(name)), place)

    def harvest(self, note: WorkspaceNote) -> tuple[SessionResult, bool]:
        """Keep the work of an attempt under refs/commonhold/sessions/ID/ATTEMPT. Return it, and whether it is complete.

        It is not if a file could not be read, or if the workspace holds another repository: then the workspace must
        stay. Nothing is committed on the branch, and the workspace is not changed. Raises StoreError `GIT_FAILED`,
        `IO_FAILED`.
        """
        tip, ref = self._tip(note), f"{REFS}/{note.session}/{note.attempt}"
        if not self.is_there(note):
            # Its files were harvested before it was moved away, or a person has removed it.
            kept = self._git.line("rev-parse", "--verify", "--quiet", ref)
            return SessionResult(tip, kept or tip), True
        index = str(self._files.of_session(note.session) / "harvest.index")
        there = {"GIT_DIR": note.git_dir, "GIT_WORK_TREE": note.path, "GIT_INDEX_FILE": index}
        git = Git(note.path)
        imported = True
        if note.private:
            imported = self._import(note, tip)
            there["GIT_DIR"] = str(self.common_dir)
            git.ask("read-tree", tip, settings=there)  # the index of the agent names objects that only it has
        else:
            with suppress(FileNotFoundError):
                shutil.copyfile(Path(note.git_dir, "index"), index)
        known = {each.path for each in note.submodules}
        message = f"Uncommitted work of session {note.session}, attempt {note.attempt}"
        snapshot, complete = snapshot_of(self._git, git, there, tip, message, known)
        complete &= imported
        for each in note.submodules:
            complete &= harvest_submodule(each, Path(note.path), ref, Path(index))
        # Others have their only git folder there: a command in the workspace has fetched them.
        complete &= not Path(note.git_dir, "modules").exists()
        # Taken again, unchanged work keeps the commit that was reported: a new one would leave that without a ref.
        kept = self._git.line("rev-parse", "--verify", "--quiet", ref)
        if kept is not None and self._is_same(kept, snapshot):
            return SessionResult(tip, kept), complete
        self._git.ask("update-ref", ref, snapshot)
        return SessionResult(tip, snapshot), complete

    def _is_same(self, kept: str, snapshot: str) -> bool:
        """Whether two snapshots have the same tree and the same parent."""
        one, other = (self._git.line("show", "--no-patch", "--format=%T %P", each) for each in (kept, snapshot))
        return one is not None and one == other

    def _import(self, note: WorkspaceNote, tip: str) -> bool:
        """Bring the commits from a sandbox into the repository; those of other branches get refs of ours.

        Return whether all have one: an agent can give a branch a name that git refuses.
        """
        branches = Path(note.private, "branches")
        heads = {str(each.relative_to(branches)): _line_of(each) for each in branches.rglob("*")}
        # Git, killed in the middle, leaves a `.lock`.
        heads = {name: tip for name, tip in heads.items() if _HASH.fullmatch(tip) and not name.endswith(".lock")}
        given = "\n".join((tip, *heads.values(), f"^{note.base}", "")).encode()
        there = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{note.private}/objects"}
        packed = self._git.ask("pack-objects", "--revs", "--stdout", "--quiet", given=given, settings=there)
        self._git.ask("index-pack", "--stdin", given=packed)
        if note.session in heads:
            self._git.ask("update-ref", full_ref(branch_of(note.session)), heads.pop(note.session))
        kept = f"{REFS}/{note.session}/{note.attempt}-branches"
        done = [self._git.run("update-ref", f"{kept}/{name}", commit) for name, commit in heads.items()]
        return not any(each.returncode for each in done)

    def _boxed_tip(self, note: WorkspaceNote) -> str:
        """Return the commit that is checked out in a sandbox; the base, if what its files say is no commit."""
        head = _line_of(Path(note.git_dir, "HEAD"))
        if head.startswith(f"ref: {BRANCHES}/"):
            name = head.removeprefix(f"ref: {BRANCHES}/")
            head = "" if ".." in name else _line_of(Path(note.private, "branches", name))
        return head if _HASH.fullmatch(head) else note.base

    def _tip(self, note: WorkspaceNote) -> str:
        """Return the commit that is checked out in a workspace, or as much as is known of it."""
        if note.private:
            return self._boxed_tip(note)
        there = {"GIT_DIR": note.git_dir}
        done = self._git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", settings=there)
        if done.returncode == 0:
            return done.stdout.decode().strip()
        return self._git.line("rev-parse", "--verify", "--quiet", full_ref(branch_of(note.session))) or note.base

    def remove(self, note: WorkspaceNote) -> None:
        """Remove a workspace that was harvested: its files go to the trash, which `empty_trash` deletes.

        Only git's record of this very worktree is deleted: `git worktree prune` would take others', too.
        """
        path = Path(note.path)
        if note.below:
            self._overlays.unmount(path)
        files = self._overlays.layers(path) if note.below else path
        if files.is_dir():
            self._files.trash.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.rename(self._files.trash / f"{path.name}-{secrets.token_hex(4)}")
        record = Path(note.git_dir)
        named = _line_of(record / "gitdir")
        is_ours = Path(named).parent == path or not os.path.exists(named)  # noqa: PTH110 - any text may be there
        if record.parent.name == "worktrees" and named and is_ours:
            shutil.rmtree(record)
        if note.private:
            shutil.rmtree(note.private, ignore_errors=True)
        self._files.drop_note(note.session)

    def empty_trash(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Delete the removed workspaces, and the bases of overlays that are not needed any more.

        It may take minutes, and leaves the disk to others for half of that time by a `pause` after each folder: the
        callers have ended their other work.
        """
        if self._overlays.folder.is_dir():
            with self._files.making_worktrees():
                notes = [self._files.note(each) for each in self._files.with_workspaces()]
                if None not in notes:  # a base that an unreadable note may name is kept
                    self._overlays.drop_bases(self._git, {note.below for note in notes if note}, self._files.trash)
        for folder, below, _ in os.walk(self._files.trash):
            # An agent may have protected a folder against its own deletion.
            for each in below:
                place = Path(folder, each)
                if not place.is_symlink():
                    with suppress(OSError):
                        place.chmod(0o700)
        for folder, below, names in os.walk(self._files.trash, topdown=False):
            began = time.monotonic()
            for each in (*names, *below):
                with suppress(OSError):  # another process is deleting it, too
                    place = Path(folder, each)
                    (place.rmdir if place.is_dir() and not place.is_symlink() else place.unlink)()
            pause(time.monotonic() - began)
        with suppress(OSError):
            self._files.trash.rmdir()


def _line_of(path: Path) -> str:
    """Return the line that a file of git holds; empty for anything else, such as a link that an agent has made."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return os.fsdecode(file.read(_LONGEST_LINE)).strip()
    except (OSError, ValueError):  # the name may have a NUL byte
        return ""


def _is_free(place: Path, workspace: Path) -> bool:
    """Whether a workspace has nothing at a place; no link leads out of it on the way there."""
    return not os.path.lexists(place) and Path(os.path.realpath(place.parent)).is_relative_to(workspace)


def _copy(source: Path, place: Path) -> None:
    """Copy a file, or the folder of a repository that lies there; skip one that is gone or in the way.

    Raises OSError.
    """
    with suppress(FileNotFoundError, FileExistsError, NotADirectoryError, shutil.Error):
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, place, symlinks=True)
        else:
            shutil.copy2(source, place, follow_symlinks=False)


def workspace_lost(path: str) -> StoreError:
    """Return the error for a workspace that somebody removed while a session was paused."""
    return StoreError(
        Code.IO_FAILED,
        f"the workspace {path} is gone, so the session cannot go on",
        hint="begin anew: commonhold session retry",
    )
