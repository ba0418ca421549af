"""The files of managed sessions on this machine.

In the state folder each session has a folder with its logs, one an attempt, the prompt, the log of its supervisor, and
a note of where its workspace is. Workspaces lie elsewhere: tools treat all that is below `.git` differently.
"""

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.config import OverlayUse, Settings
from commonhold.machine.file_replacement import replace_file
from commonhold.session_host.submodules import Submodule
from commonhold.workspace.repository import Repository

_FOLDER: Final = "sessions"
_NOTE: Final = "workspace.json"
_DEFAULT: Final = "~/.local/state/commonhold/workspaces"


@dataclass(frozen=True, slots=True)
class WorkspaceNote:
    """Where the workspace of an attempt is: its folder, and git's folder for it, before any agent could change that.

    `submodules` are those that were checked out in it. In a sandbox, `box` are the words that begin each command, or
    `container` those by which Docker makes a container for it; `private` is the folder of what git writes there.
    `below` is the name of the base if it is an overlay. `variables` are those that its commands get beside the
    environment of their supervisor.
    """

    session: str
    attempt: int
    path: str
    git_dir: str
    teardown: str
    base: str
    box: tuple[str, ...] = ()
    container: tuple[str, ...] = ()
    private: str = ""
    submodules: tuple[Submodule, ...] = ()
    below: str = ""
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The files of the managed sessions of one repository.

    `workspaces` is the folder of its workspaces. `mark` tells the repository from all others of this machine, in which
    sessions have the same ids.
    """

    folder: Path
    workspaces: Path
    mark: str
    overlays: OverlayUse = OverlayUse.AUTO

    @classmethod
    def of(cls, repository: Repository, settings: Settings) -> "SessionFiles":
        """Return those of a repository under its settings."""
        name = Path(repository.root).name
        mark = hashlib.sha256(repository.state_folder.encode("utf-8", "surrogateescape")).hexdigest()[:10]
        above = Path(settings.workspaces or _DEFAULT).expanduser()
        overlays = OverlayUse(settings.overlays)
        return cls(Path(repository.state_folder, _FOLDER), above / f"{name}-{mark}", mark, overlays)

    def label(self, session: str, fence: int | str = "") -> str:
        """Return the value by which the processes of a session are known; without a fence, the begin of all of them."""
        return f"{self.mark}:{session}:{fence}"

    def group(self, session: str) -> str:
        """Return the name of the control groups of a session."""
        return f"{self.mark}-{session}"

    def of_session(self, session: str) -> Path:
        """Return the folder of a session, made if need be, which only this user can read."""
        made = self.folder / session
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        return made

    def log(self, session: str, attempt: int) -> Path:
        """Return the place of the log of an attempt: all that its commands print, appended."""
        return self.folder / session / f"{attempt}.log"

    def workspace(self, session: str, attempt: int) -> Path:
        """Return the place of the workspace of an attempt."""
        return self.workspaces / f"{session}.{attempt}"

    @property
    def ports(self) -> Path:
        """The folder with a lock for each range of ports; all repositories of this user share it."""
        return self.workspaces.parent / ".ports"

    @property
    def trash(self) -> Path:
        """The folder in which removed workspaces wait for their deletion; on the same file system."""
        return self.workspaces / ".trash"

    @property
    def containers(self) -> Path:
        """A file that is there if a session has been given a container, ever."""
        return self.folder / "containers"

    def note(self, session: str) -> WorkspaceNote | None:
        """Return the note about the workspace that a session has; None if it has none."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads((self.folder / session / _NOTE).read_text())
            submodules = tuple(Submodule(*each) for each in found["submodules"])
            variables = tuple((name, value) for name, value in found.get("variables", ()))
            words = {name: tuple(found.get(name, ())) for name in ("box", "container")}
            return WorkspaceNote(**{**found, **words, "submodules": submodules, "variables": variables})
        return None

    def put_note(self, note: WorkspaceNote) -> None:
        """Keep the note, in one step. Raises StoreError."""
        told = json.dumps({name: getattr(note, name) for name in WorkspaceNote.__slots__})
        replace_file(str(self.of_session(note.session) / _NOTE), told.encode())

    def drop_note(self, session: str) -> None:
        """Delete the note: the workspace is gone."""
        (self.folder / session / _NOTE).unlink(missing_ok=True)

    def with_workspaces(self) -> tuple[str, ...]:
        """Return the sessions that have a workspace here."""
        return tuple(sorted(each.parent.name for each in self.folder.glob(f"*/{_NOTE}")))

    @contextmanager
    def alone(self, session: str, *, wait: bool) -> Iterator[bool]:
        """Be the only process that works on the workspace of a session. Yield whether it is.

        A supervisor is, as long as it lives; the kernel ends that with the process.
        """
        with (self.of_session(session) / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    @contextmanager
    def making_worktrees(self) -> Iterator[None]:
        """Be the only process that makes a worktree: git's own lock on its settings does not wait."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / "worktrees.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
