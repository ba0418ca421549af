"""One turn of a managed session: the commands in its workspace, each to its end or to the reason why it was ended.

All that the commands print goes to the log of the attempt, which they write themselves: it goes on without us.
"""

import signal
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.kernel.managed_session import EndCause, ManagedSession, SessionMove, SessionWish
from commonhold.kernel.texts import counted
from commonhold.machine.process_groups import SESSION_LABEL, has_ended, signal_group
from commonhold.machine.process_tree import collect_orphans, end_descendants
from commonhold.session_host.limits import Limits
from commonhold.sessions.commands import SessionReport

GRACE_SECONDS: Final = 10.0
"""How long the processes of a session have between SIGTERM and SIGKILL."""
LEFT_SECONDS: Final = 2.0
"""The same for those that an agent has left behind when it ends."""
LOOK_SECONDS: Final = 0.05
COLLECT_SECONDS: Final = 5.0
MOST_LOG_BYTES: Final = 256 << 20
"""How much the commands of an attempt may print: an agent in a loop would fill the disk."""
SHELL: Final = "/bin/sh"
_NO_SIGNAL: Final = 128


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a command was ended: a wish, or a limit that it exceeded."""

    cause: EndCause
    note: str
    wish: SessionWish | None = None


Ask = Callable[[], Stopped | None]
"""Says whether the turn must stop now; called many times a second."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The surroundings of a turn: where its commands run and print, and what ends them.

    `box` are the words that begin a command in a sandbox. `spared` returns the processes below this one that belong to
    no session: a daemon that was started in it.
    """

    workspace: str
    log: Path
    environment: Mapping[str, str]
    asked: Ask
    spared: Callable[[], Collection[int]]
    box: tuple[str, ...] = ()
    limits: Limits = Limits()  # noqa: RUF009 - it is frozen
    now: Callable[[], float] = time.monotonic

    def run(self, session: ManagedSession, agent: Sequence[str], *, is_first: bool) -> SessionReport:
        """Set the workspace up unless this goes on with an attempt, run the agent, then the checks; say how it ended.

        The report has no result yet. All processes that the commands have started are gone then.
        """
        ends_at = self.now() + session.timeout_seconds
        if is_first and session.setup:
            failed = self._step(session, "set-up", session.setup, EndCause.SETUP_FAILED, ends_at)
            if failed:
                return failed
        status, stopped = self.command(agent, ends_at, session)
        if report := _ended(status, stopped, "the agent"):
            return report
        for check in session.checks:
            failed = self._step(session, f"check `{check}`", check, EndCause.CHECK_FAILED, ends_at)
            if failed:
                return failed
        passed = f"; {counted(len(session.checks), 'check')} passed" if session.checks else ""
        return SessionReport(SessionMove.FINISH, f"the agent ended{passed}", EndCause.EXITED, 0)

    def _step(
        self, session: ManagedSession, name: str, line: str, cause: EndCause, ends_at: float
    ) -> SessionReport | None:
        status, stopped = self.command((SHELL, "-c", line), ends_at, session)
        if status == 0 and stopped is None:
            return None
        report = _ended(status, stopped, f"the {name}")
        is_own = report is not None and stopped is None
        return SessionReport(SessionMove.FAIL, report.note, cause, status) if report and is_own else report

    def command(
        self, words: Sequence[str], ends_at: float, session: ManagedSession
    ) -> tuple[int | None, Stopped | None]:
        """Run one command. Return its exit status (None: it could not be started), and why it was ended, if it was."""
        kills = self.limits.kills
        with self.log.open("ab") as log:
            try:
                process = subprocess.Popen(  # noqa: S603 - running it is the purpose of this function
                    (*self.limits.words, *self.box, *words),
                    cwd=self.workspace,
                    env=dict(self.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            except OSError as fault:
                return None, Stopped(EndCause.NOT_STARTED, f"{words[0]} could not be started: {fault.strerror}")
        stopped: Stopped | None = Stopped(EndCause.LOST, "its supervisor failed")
        try:
            stopped = self._wait(process.pid, ends_at, session)
        finally:  # a supervisor that fails, or is asked to end, leaves no process either
            if stopped is not None and not self.box:
                signal_group(process.pid, signal.SIGTERM)
                has_ended(process.pid, GRACE_SECONDS)
            # The first process of a sandbox is not the agent, and takes no signal for it.
            grace = GRACE_SECONDS if stopped is not None and self.box else LEFT_SECONDS
            end_descendants(grace, process.pid, self.spared())
            # Without /proc this ends those that have stayed in the group.
            signal_group(process.pid, signal.SIGKILL)
        status = process.wait()
        # bubblewrap reports the signal that ended its command as a shell does.
        status = _NO_SIGNAL - status if self.box and status > _NO_SIGNAL else status
        if status and stopped is None and self.limits.kills > kills:
            stopped = Stopped(EndCause.OUT_OF_MEMORY, f"it was out of memory: {self.limits.told}")
        return status, stopped

    def _wait(self, pid: int, ends_at: float, session: ManagedSession) -> Stopped | None:
        size, grew_at = -1, self.now()
        collects_at = grew_at + COLLECT_SECONDS
        while not has_ended(pid, LOOK_SECONDS):
            now = self.now()
            if now >= collects_at:
                collect_orphans(pid)
                collects_at = now + COLLECT_SECONDS
            if (found := self.log.stat().st_size) != size:
                size, grew_at = found, now
            if size > MOST_LOG_BYTES:
                return Stopped(EndCause.LOG_FULL, f"the attempt printed more than {MOST_LOG_BYTES >> 20} MiB")
            if now >= ends_at:
                return Stopped(EndCause.TIMED_OUT, f"it exceeded the limit of {session.timeout_seconds:g} s")
            if now - grew_at >= session.silence_seconds:
                return Stopped(EndCause.SILENT, f"it printed nothing for {session.silence_seconds:g} s")
            if stopped := self.asked():
                return stopped
        return None


def _ended(status: int | None, stopped: Stopped | None, what: str) -> SessionReport | None:
    """Return the report about a command that did not succeed; None for one that did."""
    if stopped is not None:
        move = SessionMove.FAIL
        if stopped.wish is not None:
            move = SessionMove.PAUSE if stopped.wish is SessionWish.PAUSE else SessionMove.CANCEL
        return SessionReport(move, stopped.note, stopped.cause, status)
    if status == 0:
        return None
    if status is not None and status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return SessionReport(
            SessionMove.FAIL, f"{what} was ended by {name}, which Commonhold did not send", EndCause.KILLED, status
        )
    return SessionReport(SessionMove.FAIL, f"{what} ended with exit status {status}", EndCause.EXITED, status)


def environment_of(
    inherited: Mapping[str, str], holder: str, label: str, ports: range, settings: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a session's commands.

    It has its name as COMMONHOLD_AGENT, `label` as COMMONHOLD_SESSION, by which its processes are found, its own
    `ports`, and the `settings` of the store and namespace that its starter uses: so it sees the leases of all others.
    """
    dropped = ("COMMONHOLD_SOCKET", "COMMONHOLD_HOLDER", "COMMONHOLD_MASKED")
    kept = {name: value for name, value in inherited.items() if name not in dropped}
    return {
        **kept,
        **settings,
        "COMMONHOLD_AGENT": holder,
        SESSION_LABEL: label,
        "COMMONHOLD_PORT": str(ports[0]),
        "COMMONHOLD_PORTS": f"{ports[0]}-{ports[-1]}",
    }
