"""What both sandboxes have in common: which files a session's commands see there, and how git works in them.

What git writes beside the worktree's own folder goes to folders of the session: new objects, and the branches
`agent/…`; `Worktrees.harvest` brings them into the repository. So no command in a sandbox can damage the history, and
no setting or hook that it writes is used by git outside of it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import commonhold
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import ManagedSession
from commonhold.kernel.refs import full_ref
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote

BRANCHES: Final = full_ref("agent")
WRITABLE: Final = ":rw"
"""The end of an exposed path that may be written, too."""
_OBJECTS: Final = "/run/commonhold/objects"
"""The place of the repository's objects in the sandbox; the session's own lie where git looks for them."""


class Bind(NamedTuple):
    """A file or folder of this machine that is seen in a sandbox, at its `place` there.

    If both are the same they may be a link: then the file or folder that it names is seen at its own place.
    """

    source: str
    place: str
    is_writable: bool = False


def hidden() -> tuple[str, ...]:
    """Return the folders that are empty in a sandbox: they hold sockets, keys, and the files of other programs."""
    return ("/tmp", "/run", str(Path.home()))  # noqa: S108 - it is hidden


def private_git(session: ManagedSession, note: WorkspaceNote, files: SessionFiles, git_dir: Path) -> Path:
    """Make the folder of what git writes in the sandbox of an attempt. Raises OSError.

    `git_dir` is the common git folder of the repository.
    """
    private = files.of_session(session.id) / f"{note.attempt}.git"
    for name in ("objects/info", "objects/pack", "branches", "logs"):
        (private / name).mkdir(parents=True, exist_ok=True)
    (private / "objects/info/alternates").write_text(f"{_OBJECTS}\n")
    (private / "branches" / session.id).write_text(f"{note.base}\n")
    for name in (BRANCHES, f"logs/{BRANCHES}"):
        (git_dir / name).mkdir(parents=True, exist_ok=True)
    return private


def own_programs() -> Iterator[Bind]:
    """Yield the interpreter and the packages that `commonhold` itself runs with."""
    yield from _read_only(sys.base_prefix, sys.prefix, *commonhold.__path__)


def workspace_binds(session: ManagedSession, note: WorkspaceNote, private: Path, git_dir: Path) -> Iterator[Bind]:
    """Yield the repository, the workspace and the exposed paths; a place comes after the folder that holds it."""
    yield from _read_only(str(git_dir))
    yield Bind(str(git_dir / "objects"), _OBJECTS)
    for name, place in (("objects", "objects"), ("branches", BRANCHES), ("logs", f"logs/{BRANCHES}")):
        yield Bind(str(private / name), str(git_dir / place), is_writable=True)
    for writable in (note.git_dir, note.path):
        yield Bind(writable, writable, is_writable=True)
    for exposed in session.exposed:
        if exposed.endswith(WRITABLE):
            path = exposed.removesuffix(WRITABLE)
            yield Bind(path, path, is_writable=True)
        else:
            yield from _read_only(exposed)


def _read_only(*paths: str) -> Iterator[Bind]:
    yield from (Bind(path, path) for path in paths if Path(path).exists())


def unusable(why: str, hint: str) -> StoreError:
    """Return the error for a sandbox that cannot be used; `why` is a clause."""
    return StoreError(Code.SANDBOX_FAILED, f"the sandbox cannot be used: {why}", hint=hint, fields={"why": why})
