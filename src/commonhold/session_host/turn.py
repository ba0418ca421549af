"""One turn of a managed session: the commands in its workspace, each to its end or to the reason why it was ended.

All that the commands print goes to the log of the attempt, which they write themselves: it goes on without us.
"""

import math
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from commonhold.agents.headless import HEADLESS
from commonhold.agents.headless_events import AgentEvent
from commonhold.agents.headless_reports import AgentReport, report_in
from commonhold.agents.rate_limits import asks_for_payment, wait_seconds
from commonhold.kernel.managed_session import EndCause, ManagedSession, SessionMove, SessionWish
from commonhold.kernel.run import NOTHING_USED
from commonhold.kernel.texts import counted
from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.session_host.attempt_logs import append_to, open_log, size_of, times_of
from commonhold.session_host.commands import Command, Stopped
from commonhold.session_host.containers import started
from commonhold.session_host.limits import Limits
from commonhold.session_host.session_files import WorkspaceNote
from commonhold.session_host.terminal import CommandTerminal, PersonTerminal
from commonhold.sessions.commands import SessionReport

LOOK_SECONDS: Final = 0.05
MOST_LOG_BYTES: Final = 256 << 20
"""How much the commands of an attempt may print: an agent in a loop would fill the disk."""
SHELL: Final = "/bin/sh"
FIRST_LIMIT_PAUSE_SECONDS: Final = 60.0
LONGEST_LIMIT_PAUSE_SECONDS: Final = 1800.0
"""The pauses of a session whose agent's account is at a limit, and does not say until when."""
_MOST_DOUBLINGS: Final = 10
_LIMIT_MARGIN_SECONDS: Final = 5.0
"""How much longer the pause lasts than the limit: clocks differ."""
_MOST_QUOTED: Final = 300


Ask = Callable[[], Stopped | None]
"""Says whether the turn must stop now; called many times a second."""

_SIGNALLED: Final = 128
"""The exit status that a shell gives for a program that a signal has ended, less the number of the signal."""
_SHELL_STATUS: Final = {126: "a program that cannot be executed", 127: "a program that is not there"}


@dataclass(frozen=True, slots=True)
class Turn:
    """The surroundings of a turn: where its commands run and print, and what ends them.

    `note` names the workspace and its sandbox. `spared` returns the processes below this one that belong to no session:
    a daemon that was started in it. `wall` has the time zone of this machine, in which agents print times.
    """

    note: WorkspaceNote
    log: Path
    environment: Mapping[str, str]
    asked: Ask
    spared: Callable[[], Collection[int]]
    limits: Limits = Limits()  # noqa: RUF009 - it is frozen
    now: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now().astimezone()

    def run(
        self, session: ManagedSession, agent: Sequence[str], *, is_first: bool, rate_limits: int = 0
    ) -> SessionReport:
        """Set the workspace up unless this goes on with an attempt, run the agent, then the checks; say how it ended.

        The report has no result yet. All processes that the commands have started are gone then. `rate_limits` counts
        the turns before this one that ended at a rate limit, in a row.
        """
        ends_at = self.now() + session.timeout_seconds
        if is_first and session.setup:
            failed = self._step(session, "set-up", session.setup, EndCause.SETUP_FAILED, ends_at)
            if failed:
                return failed
        begins_at = size_of(self.log)
        status, stopped = self.command(agent, ends_at, session)
        said = self._said(session.agent, begins_at)
        is_limited = stopped is None and said.limit is not None and (status != 0 or said.is_over)
        if said.limit is not None and is_limited:
            report = self._rate_limited(said.limit, status, rate_limits)
        else:
            report = _ended(status, stopped, "the agent") or self._checked(session, "the agent ended", ends_at)
        return replace(report, usage=None if said.usage == NOTHING_USED else said.usage)

    def attend(
        self, session: ManagedSession, words: Sequence[str], person: PersonTerminal, *, finishes: bool
    ) -> SessionReport:
        """Run a command at the terminal of a person, then the checks if that `finishes` the turn; else it is paused.

        A person takes as long as he likes. A command that fails or cannot be started pauses the turn, too: then there
        is nothing to check. Only checks that fail, and a wish to cancel, end the session.
        """
        patient = replace(session, timeout_seconds=math.inf, silence_seconds=math.inf)
        with ExitStack() as stack:
            try:
                terminal = stack.enter_context(person.joined(self.log))
            except OSError as fault:
                why = f"no terminal could be opened: {fault.strerror}"
                return SessionReport(SessionMove.PAUSE, why, EndCause.NOT_STARTED)
            status, stopped = self.command(words, math.inf, patient, terminal)
        report = _ended(status, stopped, "the command at the terminal")
        if report is not None and report.move is SessionMove.FAIL:
            return replace(report, move=SessionMove.PAUSE)
        if report is not None or not finishes:
            return report or SessionReport(SessionMove.PAUSE, "the terminal was left", EndCause.ASKED)
        if session.checks:
            person.say(f"{counted(len(session.checks), 'check')} to pass; their output is in the log of {session.id}")
        return self._checked(session, "the command at the terminal ended", self.now() + session.timeout_seconds)

    def _checked(self, session: ManagedSession, ended: str, ends_at: float) -> SessionReport:
        for check in session.checks:
            failed = self._step(session, f"check `{check}`", check, EndCause.CHECK_FAILED, ends_at)
            if failed:
                return failed
        passed = f"; {counted(len(session.checks), 'check')} passed" if session.checks else ""
        return SessionReport(SessionMove.FINISH, f"{ended}{passed}", EndCause.EXITED, 0)

    def _rate_limited(self, limit: AgentEvent, status: int | None, rate_limits: int) -> SessionReport:
        """Return the report of a pause: until the limit ends, if the agent says when, or for a time that grows.

        A limit that only a payment ends pauses the session until a person resumes it.
        """
        found = wait_seconds(limit.text, limit.until, self.wall())
        grown = min(LONGEST_LIMIT_PAUSE_SECONDS, FIRST_LIMIT_PAUSE_SECONDS * 2.0 ** min(rate_limits, _MOST_DOUBLINGS))
        why = limit.text.strip().partition("\n")[0][:_MOST_QUOTED]
        if found is None and asks_for_payment(limit.text):
            note = f"the agent's account has no credit left; pay, then resume: {why}"
            return SessionReport(SessionMove.PAUSE, note, EndCause.RATE_LIMITED, status)
        pause = grown if found is None else found + _LIMIT_MARGIN_SECONDS
        note = f"the agent's account is rate-limited: {why}"
        return SessionReport(SessionMove.PAUSE, note, EndCause.RATE_LIMITED, status, wait_seconds=pause)

    def _note_time(self, size: int) -> None:
        """Keep the time at which the log has this size; a recording does without those that cannot be kept."""
        with suppress(OSError), times_of(self.log).open("a", encoding="ascii") as file:
            file.write(f"{self.wall().timestamp():.3f} {size}\n")

    def _said(self, agent: str, begins_at: int) -> AgentReport:
        """Return the report of a known agent, from the log that it has written since."""
        file = open_log(self.log) if agent in HEADLESS else None
        if file is None:
            return AgentReport()
        with file:
            file.seek(begins_at)
            return report_in(agent, file)

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
        self,
        words: Sequence[str],
        ends_at: float,
        session: ManagedSession,
        terminal: CommandTerminal | None = None,
    ) -> tuple[int | None, Stopped | None]:
        """Run one command. Return its exit status (None: it could not be started), and why it was ended, if it was."""
        with ExitStack() as stack:
            try:
                # Kept open: the agent may delete its log, or put another file in its place.
                printed = stack.enter_context(append_to(self.log))
                command = started(self.note, words, self.environment, self.log, self.limits, self.spared, terminal)
            except OSError as fault:
                is_unknown = isinstance(fault, FileNotFoundError) and fault.filename == words[0] and "/" not in words[0]
                why = "it is not on the PATH of the daemon or worker" if is_unknown else fault.strerror
                return None, Stopped(EndCause.NOT_STARTED, f"{words[0]} could not be started: {why}")
            stopped: Stopped | None = Stopped(EndCause.LOST, "its supervisor failed")
            try:
                stopped = self._wait(command, printed, ends_at, session)
            finally:  # a supervisor that fails, or is asked to end, leaves no process either
                command.end(is_asked=stopped is not None)
            status, found = command.outcome()
            self._note_time(_size(printed))
            return status, stopped or found

    def _wait(self, command: Command, printed: IO[bytes], ends_at: float, session: ManagedSession) -> Stopped | None:
        size, grew_at = -1, self.now()
        while not command.has_ended(LOOK_SECONDS):
            now = self.now()
            if (found := _size(printed)) != size:
                size, grew_at = found, now
                self._note_time(size)
            if size > MOST_LOG_BYTES:
                return Stopped(EndCause.LOG_FULL, f"the attempt printed more than {MOST_LOG_BYTES >> 20} MiB")
            if now >= ends_at:
                return Stopped(EndCause.TIMED_OUT, f"it exceeded the limit of {session.timeout_seconds:g} s")
            if now - grew_at >= session.silence_seconds:
                return Stopped(EndCause.SILENT, f"it printed nothing for {session.silence_seconds:g} s")
            if stopped := self.asked():
                return stopped
        return None


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


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
    why = f"{what} ended with exit status {status}{_meaning(status or 0)}"
    return SessionReport(SessionMove.FAIL, why, EndCause.EXITED, status)


def _meaning(status: int) -> str:
    """Say what a shell reports by an exit status; empty if that is for the program to say."""
    meant = _SHELL_STATUS.get(status, "")
    if status - _SIGNALLED in set(signal.Signals):
        meant = f"the end of a program by {signal.Signals(status - _SIGNALLED).name}"
    return f", by which a shell reports {meant}" if meant else ""


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
