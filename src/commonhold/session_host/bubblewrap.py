"""The sandbox `bubblewrap`: commands see the file system of this machine, and write to the workspace only."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from commonhold.kernel.managed_session import ManagedSession
from commonhold.session_host.sandbox import Bind, hidden, own_programs, private_git, unusable, workspace_binds
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote

_PROGRAM: Final = "bwrap"
_TRIAL_SECONDS: Final = 30.0
_HINT: Final = "install bubblewrap and allow user namespaces, or start the session with --sandbox none"
_RESOLVER: Final = "/etc/resolv.conf"
"""Often a link into /run, which is hidden."""


def boxed(session: ManagedSession, note: WorkspaceNote, files: SessionFiles, git_dir: Path) -> WorkspaceNote:
    """Make the folders of a session's sandbox, and return its note with the words that begin each command.

    `git_dir` is the common git folder of the repository. Raises StoreError `SANDBOX_FAILED`, OSError.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise unusable("the program `bwrap` is not installed", _HINT)
    private = private_git(session, note, files, git_dir)
    words = (program, *_words(session, note, private, git_dir), "--")
    trial = subprocess.run((*words, "true"), capture_output=True, timeout=_TRIAL_SECONDS, check=False)  # noqa: S603 - as above
    if trial.returncode:
        raise unusable(trial.stderr.decode("utf-8", "replace").strip() or f"exit status {trial.returncode}", _HINT)
    return replace(note, box=words, private=str(private))


def _words(session: ManagedSession, note: WorkspaceNote, private: Path, git_dir: Path) -> Iterator[str]:
    yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL")
    if not session.network:
        yield "--unshare-net"
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    for folder in hidden():
        yield from ("--tmpfs", folder)
    resolver = str(Path(_RESOLVER).resolve())
    yield from ("--ro-bind-try", resolver, resolver)
    for bind in (*own_programs(), *workspace_binds(session, note, private, git_dir)):
        yield from _option(bind)
    yield from ("--chdir", note.path)


def _option(bind: Bind) -> tuple[str, str, str]:
    source = os.path.realpath(bind.source)
    place = source if bind.source == bind.place else bind.place
    return "--bind" if bind.is_writable else "--ro-bind", source, place
