"""Workspaces and processes whose session has ended, or whose supervisor was lost: ended, harvested and removed."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final

from commonhold.client.session import Commonhold
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.machine.logs import Log
from commonhold.machine.process_groups import SESSION_LABEL, has_ended, signal_group
from commonhold.machine.process_tree import end_process, with_variable
from commonhold.session_host.limits import remove_limits
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote
from commonhold.session_host.turn import SHELL
from commonhold.session_host.worktrees import Worktrees

TEARDOWN_SECONDS: Final = 60.0
_KILL_SECONDS: Final = 5.0
_log: Final = Log(__name__)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Clears up after sessions, with `environment` for their tear-down commands, which get their own variables, too.

    The caller is alone with the session: see `SessionFiles.alone`.
    """

    worktrees: Worktrees
    files: SessionFiles
    environment: Mapping[str, str]

    def clear(self, note: WorkspaceNote) -> None:
        """End all processes of a session, keep its work, and remove its workspace."""
        end_labelled(self.files.label(note.session))
        remove_limits(self.files.group(note.session))
        self.remove(note)

    def remove(self, note: WorkspaceNote) -> None:
        """Keep the work, run the tear-down command, and remove the workspace; it stays if its work cannot be kept.

        Raises StoreError `GIT_FAILED`, `IO_FAILED`, OSError.
        """
        try:
            _, is_complete = self.worktrees.harvest(note)
        finally:
            if note.teardown:
                self._tear_down(note)
                self.files.put_note(replace(note, teardown=""))  # a workspace that stays is torn down once
        if is_complete:
            self.worktrees.remove(note)

    def _tear_down(self, note: WorkspaceNote) -> None:
        log = self.files.log(note.session, note.attempt)
        with suppress(OSError), log.open("ab") as printed:
            process = subprocess.Popen(  # noqa: S603 - running it is the purpose of this function
                (*note.box, SHELL, "-c", note.teardown),
                cwd=note.path,
                env={**self.environment, **dict(note.variables)},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )
            has_ended(process.pid, TEARDOWN_SECONDS)
            signal_group(process.pid, signal.SIGKILL)
            _log.info("teardown ended", session=note.session, status=process.wait())


@contextmanager
def guarded(label: str) -> Iterator[None]:
    """Have a process beside this one that kills all processes of a session if this one is killed.

    It waits for the end of a pipe that the kernel closes with this process; a byte says that this one ends as it
    should. It is no child of this one. The caller has no other threads yet.
    """
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.close(writing)
                if not os.read(reading, 1):
                    end_labelled(label)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.write(writing, b"x")
        os.close(writing)


def end_labelled(label: str) -> None:
    """Kill the processes that a lost supervisor has left behind. They are known by a variable of their environment."""
    until = time.monotonic() + _KILL_SECONDS
    while (found := with_variable(SESSION_LABEL, label)) and time.monotonic() < until:
        for pid in found:
            end_process(pid, signal.SIGKILL)
        time.sleep(0.05)


def sweep(hold: Commonhold, leftovers: Leftovers) -> tuple[str, ...]:
    """Clear the workspaces of this machine that no session needs any more. Return the ids of their sessions.

    A workspace that a supervisor works on is left to it. One fault does not keep the others from being cleared.
    """
    cleared = []
    for session in leftovers.files.with_workspaces():
        with leftovers.files.alone(session, wait=False) as is_alone:
            note = leftovers.files.note(session)
            if not is_alone or note is None:
                continue
            try:
                (view,) = hold.managed_sessions(session).sessions
                if not needs_workspace(view.record, note.attempt):
                    leftovers.clear(note)
                    cleared.append(session)
            except (CommonholdError, OSError) as fault:
                _log.warning("workspace stays", session=session, path=note.path, why=str(fault))
    leftovers.worktrees.empty_trash()
    return tuple(cleared)


def needs_workspace(record: ManagedSessionRecord, attempt: int) -> bool:
    """Whether the workspace of an attempt is still in use: it runs, or is paused."""
    return record.attempt == attempt and record.state in (SessionState.RUNNING, SessionState.PAUSED)
