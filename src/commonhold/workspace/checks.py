"""Running the caller's check on a fresh copy of the project, in a process group of its own that is ended as one."""

import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from commonhold.kernel.errors import Code, InputError
from commonhold.machine.process_groups import (
    GRACE_SECONDS,
    environment_without_git,
    has_ended,
    signal_group,
    start_apart,
    tail_of,
)
from commonhold.merging.branches.verification import CheckResult

CANDIDATE: Final = "COMMONHOLD_CANDIDATE"
WORKTREE: Final = "COMMONHOLD_WORKTREE"
PLACEHOLDER: Final = "{file}"
TESTS: Final = "{tests}"

Fill = Callable[[str], None]
"""Copy the project into an empty folder, without the candidate."""


def nothing_else(_folder: str) -> None:
    """A copy that has the candidate alone in it."""


class CommandCheck:
    """A shell command that passes if it exits with 0.

    It runs at the root of a copy that is rebuilt for every try, since files that one try leaves behind (compiled
    files, caches) could change the result of the next. `{file}` in it stands for the candidates; COMMONHOLD_CANDIDATE
    names a single one.
    """

    def __init__(self, command: str, fill: Fill = nothing_else, *, worktree: str | None = None) -> None:
        """Run `command` in copies made by `fill`. It gets the path `worktree`, for ignored files, which no copy has."""
        self.name = command
        self._fill = fill
        self._worktree = worktree

    def passes(self, contents: Mapping[str, bytes | None], timeout_seconds: float) -> CheckResult:
        """Try the contents, and leave nothing behind."""
        with _scratch() as scratch, tempfile.TemporaryFile() as printed:
            root = os.path.join(scratch, "copy")
            os.mkdir(root)
            self._fill(root)
            for path in (path for path, content in contents.items() if content is None):
                _remove(root, path)
            there = ((path, content) for path, content in contents.items() if content is not None)
            places = [_put(root, path, content) for path, content in there]
            command = self.name.replace(PLACEHOLDER, shlex.join(places))
            status = _run(command, root, self._environment(places), printed, timeout_seconds)
            tail = tail_of(printed)
        if status is None:
            return CheckResult(passed=False, tail=f"{tail}\n(ended after {timeout_seconds:.0f} seconds)".lstrip())
        return CheckResult(status == 0, tail)

    def _environment(self, places: list[str]) -> dict[str, str]:
        known = {WORKTREE: self._worktree} if self._worktree else {}
        return environment_without_git() | known | ({CANDIDATE: places[0]} if len(places) == 1 else {})


@contextmanager
def _scratch() -> Iterator[str]:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="commonhold-check-"))
    try:
        yield folder
    finally:
        # Files that a check made unreadable or keeps writing may remain, in the system's temporary folder.
        shutil.rmtree(folder, ignore_errors=True)


def _remove(root: str, path: str) -> None:
    place = _place(root, path)
    if os.path.lexists(place):
        os.unlink(place)


def _place(root: str, path: str) -> str:
    """Return the place of a path in the copy; no link in it leads out. Raises InputError `PATH_OUTSIDE`."""
    place = os.path.join(root, path)
    if os.path.commonpath((root, os.path.realpath(os.path.dirname(place)))) != root:
        raise InputError(
            Code.PATH_OUTSIDE,
            f"{path!r} leads out of the copy that it is to be checked in, through a link",
            hint="name the file by the path that it has without the link",
            fields={"path": path},
        )
    return place


def _put(root: str, path: str, content: bytes) -> str:
    """Write a candidate at its path in the copy, through no link that would lead out of it."""
    place = _place(root, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    mode = None
    if os.path.lexists(place):
        mode = stat.S_IMODE(os.lstat(place).st_mode)
        os.unlink(place)
    Path(place).write_bytes(content)
    if mode is not None:
        os.chmod(place, mode)
    return place


def _run(command: str, folder: str, env: Mapping[str, str], printed: IO[bytes], seconds: float) -> int | None:
    """Return the exit status; None after a timeout. No process that the command started in its group survives."""
    begun: list[subprocess.Popen[bytes]] = []
    try:
        start_apart(lambda: begun.append(_begin(command, folder, env, printed)))
        is_over = has_ended(begun[0].pid, seconds)
        if not is_over:
            signal_group(begun[0].pid, signal.SIGTERM)
            has_ended(begun[0].pid, GRACE_SECONDS)
    finally:
        for child in begun:
            # The child is not reaped yet, so its group cannot be another's.
            signal_group(child.pid, signal.SIGKILL)
            child.wait()
    return begun[0].returncode if is_over else None


def _begin(command: str, folder: str, env: Mapping[str, str], printed: IO[bytes]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ("/bin/sh", "-c", command),
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
