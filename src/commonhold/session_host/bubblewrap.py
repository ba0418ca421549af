"""The sandbox `bubblewrap`: the commands of a session see the file system read-only, and write to its workspace only.

Git works in there as in any worktree. What it writes beside the worktree's own folder goes to folders of the session:
new objects, and the branches `agent/…`; `Worktrees.harvest` brings them into the repository. So no command in the
sandbox can damage the history, and no setting or hook that it writes is used by git outside of it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

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
_PROGRAM: Final = "bwrap"
_TRIAL_SECONDS: Final = 30.0


def boxed(session: ManagedSession, note: WorkspaceNote, files: SessionFiles, git_dir: Path) -> WorkspaceNote:
    """Make the folders of a session's sandbox, and return its note with the words that begin each command.

    `git_dir` is the common git folder of the repository. Raises StoreError `SANDBOX_FAILED`, OSError.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise _unusable("the program `bwrap` is not installed")
    private = files.of_session(session.id) / f"{note.attempt}.git"
    for name in ("objects/info", "objects/pack", "branches", "logs"):
        (private / name).mkdir(parents=True, exist_ok=True)
    (private / "objects/info/alternates").write_text(f"{_OBJECTS}\n")
    (private / "branches" / session.id).write_text(f"{note.base}\n")
    for name in (BRANCHES, f"logs/{BRANCHES}"):
        (git_dir / name).mkdir(parents=True, exist_ok=True)
    words = (program, *_words(session, note, private, git_dir), "--")
    trial = subprocess.run((*words, "true"), capture_output=True, timeout=_TRIAL_SECONDS, check=False)  # noqa: S603 - as above
    if trial.returncode:
        raise _unusable(trial.stderr.decode("utf-8", "replace").strip() or f"exit status {trial.returncode}")
    return replace(note, box=words, private=str(private))


def _words(session: ManagedSession, note: WorkspaceNote, private: Path, git_dir: Path) -> Iterator[str]:
    yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL")
    if not session.network:
        yield "--unshare-net"
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    # Sockets of services, keys and the files of other programs are in these.
    for hidden in ("/tmp", "/run", str(Path.home())):  # noqa: S108 - it is hidden
        yield from ("--tmpfs", hidden)
    yield from _read_only("/etc/resolv.conf", sys.base_prefix, sys.prefix, *commonhold.__path__, str(git_dir))
    yield from ("--ro-bind", str(git_dir / "objects"), _OBJECTS)
    for name, place in (("objects", "objects"), ("branches", BRANCHES), ("logs", f"logs/{BRANCHES}")):
        yield from ("--bind", str(private / name), str(git_dir / place))
    for writable in (note.git_dir, note.path):
        yield from ("--bind", writable, writable)
    for exposed in session.exposed:
        if exposed.endswith(WRITABLE):
            path = exposed.removesuffix(WRITABLE)
            yield from ("--bind", path, path)
        else:
            yield from _read_only(exposed)
    yield from ("--chdir", note.path)


def _read_only(*paths: str) -> Iterator[str]:
    for path in paths:
        real = os.path.realpath(path)
        yield from ("--ro-bind-try", real, real)


def _unusable(why: str) -> StoreError:
    return StoreError(
        Code.SANDBOX_FAILED,
        f"the sandbox cannot be used: {why}",
        hint="install bubblewrap and allow user namespaces, or start the session with --sandbox none",
    )
