"""The supervisor of a managed session: a process of its own, which outlives the daemon that started it.

It holds the session by a lease. If it cannot renew that in time it ends the agent, and reports nothing: another may
have taken the session over, under a higher fence.
"""

import os
import re
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from commonhold.agents.headless import HEADLESS, HeadlessAgent, line_of_command
from commonhold.agents.headless_reports import report_in
from commonhold.client.session import Commonhold
from commonhold.config import Settings
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.managed_session import (
    EndCause,
    ManagedSession,
    ManagedSessionRecord,
    Sandbox,
    SessionMove,
    SessionResult,
    SessionState,
    SessionWish,
)
from commonhold.machine.logs import Log
from commonhold.machine.process_groups import environment_without_git
from commonhold.machine.process_tree import become_subreaper, descendants, parent_of
from commonhold.session_host.attempt_logs import open_log
from commonhold.session_host.bubblewrap import boxed
from commonhold.session_host.commands import GRACE_SECONDS, Stopped
from commonhold.session_host.containers import contained
from commonhold.session_host.leftovers import Leftovers
from commonhold.session_host.limits import Limits, limits_of, remove_limits
from commonhold.session_host.ports import port_range
from commonhold.session_host.repairs import prompt_of
from commonhold.session_host.session_commits import TITLE_LENGTH, branch_ending_with, committed
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote
from commonhold.session_host.shared_commits import obtain_commit, offer_commit
from commonhold.session_host.terminal import PersonTerminal
from commonhold.session_host.turn import SHELL, Turn, environment_of
from commonhold.session_host.worktrees import Worktrees, workspace_lost
from commonhold.sessions.commands import SessionReport
from commonhold.workspace import daemon_files
from commonhold.workspace.git.process import Git

TTL_SECONDS: Final = 30.0
"""How long the lease of a supervisor lasts: a supervisor that died is noticed after this time."""
RENEW_SECONDS: Final = 5.0
ASK_SECONDS: Final = 0.5
_REPORT_SECONDS: Final = 60.0
_MOST_ENTRIES: Final = 1_000
_MARGIN_SECONDS: Final = GRACE_SECONDS + 5.0
"""A supervisor that could not renew its lease ends the agent this long before its end: ending takes time."""
_IS_ID: Final = re.compile(r"[\w][\w.-]{0,99}", re.ASCII)
"""The form of ids that become arguments of a program."""
_log: Final = Log(__name__)
T = TypeVar("T")


@dataclass
class Wishes:
    """The contact with the store during a turn: renews the lease, and asks what people wish."""

    hold: Commonhold
    record: ManagedSessionRecord
    renewed_at: float = field(default_factory=time.monotonic)
    asked_at: float = 0.0
    is_lost: bool = False

    def asked(self) -> Stopped | None:
        """Say whether the turn must stop. A store that does not answer is asked again, as long as the lease lasts."""
        now = time.monotonic()
        if now - self.asked_at < ASK_SECONDS:
            return None
        self.asked_at = now
        try:
            (view,) = self.hold.managed_sessions(self.record.id).sessions
            found = view.record
            if (found.state, found.fence) != (SessionState.RUNNING, self.record.fence):
                return self._lose("another supervisor has the session")
            if found.wish is not None:
                return Stopped(EndCause.ASKED, found.note, found.wish)
            if now - self.renewed_at >= RENEW_SECONDS:
                if self.hold.renew(self.record.lease_id, ttl_seconds=TTL_SECONDS).outcome != "renewed":
                    return self._lose("its lease has ended")
                self.renewed_at = now
        except CommonholdError as fault:
            _log.warning("store does not answer", session=self.record.id, code=fault.code, message=fault.message)
            if now - self.renewed_at >= TTL_SECONDS - _MARGIN_SECONDS:
                return self._lose("its lease could not be renewed")
        return None

    def last(self, work: Callable[[], T]) -> T:
        """Do a work that may take longer than the lease lasts, in another thread, and renew the lease meanwhile.

        Returns its result; its exceptions pass through.
        """
        with ThreadPoolExecutor(1) as pool:
            doing = pool.submit(work)
            while wait([doing], ASK_SECONDS).not_done:
                self.asked()
            return doing.result()

    def _lose(self, why: str) -> Stopped:
        self.is_lost = True
        return Stopped(EndCause.LOST, why)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A person who works on a session at a terminal: by a command of `words`, or by the session's own agent.

    If it `finishes` the turn, the checks follow; otherwise the session is paused again.
    """

    person: PersonTerminal
    words: tuple[str, ...] = ()
    finishes: bool = False

    def command(
        self, record: ManagedSessionRecord, note: WorkspaceNote, environment: Mapping[str, str], log: Path
    ) -> tuple[Sequence[str], Mapping[str, str]]:
        """Return the command, and the variables to add to its environment."""
        known = HEADLESS.get(record.session.agent)
        if self.words or known is None:
            # A shell of this machine need not be in the image of a container.
            shell = "" if note.container else environment.get("SHELL", "")
            return self.words or (shell or SHELL,), {}
        return known.attending(note.path, _conversation(record, known, log)), known.environment

    def asked(self) -> Stopped | None:
        """Say whether the turn must stop since the person is gone."""
        gone = self.person.gone
        return Stopped(EndCause.ASKED, gone, SessionWish.PAUSE) if gone else None


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Supervises one turn of a session that was claimed for it, perhaps at the terminal of a person."""

    hold: Commonhold
    git: Git
    worktrees: Worktrees
    files: SessionFiles
    settings: Settings
    state_folder: str
    attachment: Attachment | None = None

    def supervise(self, record: ManagedSessionRecord) -> None:
        """Run the turn, report its end, and remove the workspace unless the session is paused."""
        become_subreaper()
        with self.files.alone(record.id, wait=True), port_range(self.files.ports, record.slot) as ports:
            wishes = Wishes(self.hold, record)
            note, report = self._run(record, wishes, ports)
            if note is not None:
                report = self._offered(record, self._harvested(record.session, note, report), wishes)
            if not wishes.is_lost:
                self._report(record, report)
            is_kept = report.move is SessionMove.PAUSE and not wishes.is_lost
            if note is not None and not is_kept:
                self._remove(note, record)
        self.worktrees.empty_trash()

    def _remove(self, note: WorkspaceNote, record: ManagedSessionRecord) -> None:
        """Remove the workspace; one that cannot be removed now is left to the sweeps."""
        try:
            Leftovers(self.worktrees, self.files, environment_without_git(), self._spared).remove(note)
        except Exception as fault:  # noqa: BLE001 - an agent may have left anything there
            _log.warning("workspace stays", session=record.id, path=note.path, why=str(fault))

    def _run(
        self, record: ManagedSessionRecord, wishes: Wishes, ports: range
    ) -> tuple[WorkspaceNote | None, SessionReport]:
        """Prepare the workspace and run the turn. A failure of the preparation is an end with its reason."""
        session, environment = record.session, self._environment(record, ports)
        try:
            note = self.files.note(session.id)
            is_first = record.attempts[-1].turns == 1
            if is_first and note is not None:
                Leftovers(self.worktrees, self.files, environment_without_git(), self._spared).clear(note)
                note = None
            if not is_first and (note is None or not self.worktrees.is_there(note)):
                raise workspace_lost(str(self.files.workspace(session.id, record.attempt)))
            if note is None and session.remote:
                wishes.last(lambda: obtain_commit(self.git, session.remote, session.base))
                session = replace(session, root=self.git.root)  # that of its starter is on another machine
            if note is None:
                note = wishes.last(partial(self.worktrees.make, session, record.attempt))
            # A sweep that tears down after a lost supervisor needs the variables of the set-up.
            own = [(name, value) for name, value in environment.items() if os.environ.get(name) != value]
            note = replace(note, variables=tuple(own))
            self.files.put_note(note)
            if session.sandbox is not Sandbox.NONE and not note.private:
                note = self._confined(session, note)
                self.files.put_note(note)
            # The engine sets those of a container.
            limits = Limits() if note.container else limits_of(session, self.files.group(session.id))
            log = self.files.log(session.id, record.attempt)
            if self.attachment:
                words, more = self.attachment.command(record, note, environment, log)
            else:
                record, prompt = self._prompted(record)
                words, more = agent_command(record, str(prompt), note.path, None if is_first else log)
        except CommonholdError as fault:
            return self.files.note(session.id), self._not_started(f"{fault.message}; next: {fault.hint}")
        except (OSError, ValueError) as fault:
            return self.files.note(session.id), self._not_started(f"the workspace could not be made: {fault}")
        turn = Turn(note, log, {**environment, **more}, partial(self._asked, wishes), self._spared, limits)
        return note, self._taken(turn, replace(record, session=session), words, is_first=is_first)

    def _taken(
        self, turn: Turn, record: ManagedSessionRecord, words: Sequence[str], *, is_first: bool
    ) -> SessionReport:
        """Run the turn, or let a person work in it. If we fail, the work of the agent is reported."""
        try:
            if self.attachment:
                return turn.attend(record.session, words, self.attachment.person, finishes=self.attachment.finishes)
            limits_before = record.attempts[-1].rate_limits
            return turn.run(record.session, words, is_first=is_first, rate_limits=limits_before)
        except Exception as fault:  # noqa: BLE001 - whatever failed, the work is reported
            _log.error("turn failed", fault=fault, session=record.id)
            return SessionReport(SessionMove.FAIL, f"its supervisor failed: {fault!r}", EndCause.LOST)
        finally:
            remove_limits(self.files.group(record.id))

    def _prompted(self, record: ManagedSessionRecord) -> tuple[ManagedSessionRecord, Path]:
        """Write the prompt of a turn. Return the record with its text as the task, and the file."""
        prompt = self.files.of_session(record.id) / "prompt.txt"
        if record.session.lands and len(record.attempts) > 1:
            entries = self.hold.entries(all_states=True, limit=_MOST_ENTRIES).entries
            text = prompt_of(record, (each.record for each in entries))
            record = replace(record, session=replace(record.session, task=text))
        prompt.write_text(record.session.task, encoding="utf-8")
        return record, prompt

    def _asked(self, wishes: Wishes) -> Stopped | None:
        return (self.attachment.asked() if self.attachment else None) or wishes.asked()

    def _not_started(self, why: str) -> SessionReport:
        """Return the report of a turn that could not begin; a person may try again, or leave it to the daemon."""
        move = SessionMove.PAUSE if self.attachment else SessionMove.FAIL
        return SessionReport(move, why, EndCause.NOT_STARTED)

    def _confined(self, session: ManagedSession, note: WorkspaceNote) -> WorkspaceNote:
        """Return the note of a workspace with its sandbox. Raises StoreError `SANDBOX_FAILED`, OSError."""
        if session.sandbox is Sandbox.DOCKER:
            return contained(session, note, self.files, self.worktrees.common_dir, self.settings.session_image)
        return boxed(session, note, self.files, self.worktrees.common_dir)

    def _harvested(self, session: ManagedSession, note: WorkspaceNote, report: SessionReport) -> SessionReport:
        """Return the report with the work of the turn; if that lands, changes that were left are committed first."""
        try:
            result, is_complete = self.worktrees.harvest(note)
            if session.lands and report.move is SessionMove.FINISH:
                result = self._ready_to_land(session, result)
                if result.tip == session.base and not session.checks:
                    why = "the agent changed nothing, and no check shows why"
                    report = replace(report, move=SessionMove.FAIL, note=why)
        except (CommonholdError, OSError) as fault:
            return replace(
                report,
                move=SessionMove.FAIL if report.move is SessionMove.FINISH else report.move,
                note=f"{report.note}; its work could not be read, and stays in {note.path}: {fault}",
            )
        kept = "" if is_complete else f"; some of its files could not be harvested, and stay in {note.path}"
        return replace(report, result=result, note=f"{report.note}{kept}")

    def _ready_to_land(self, session: ManagedSession, result: SessionResult) -> SessionResult:
        """Commit the changes that the agent left, and let its branch end with its work, wherever it has committed."""
        tip = result.tip
        if result.has_uncommitted:
            tip = committed(self.git, session.id, result, session.title[:TITLE_LENGTH])
        branch_ending_with(self.git, session.id, tip)
        return SessionResult(tip, tip)

    def _offered(self, record: ManagedSessionRecord, report: SessionReport, wishes: Wishes) -> SessionReport:
        """Push the work of a session that began on another machine; the report says so if that fails."""
        remote, result = record.session.remote, report.result
        if not remote or result is None:
            return report
        until = time.monotonic() + _REPORT_SECONDS
        while True:
            try:
                wishes.last(lambda: offer_commit(self.git, remote, result.snapshot))
            except CommonholdError as fault:
                wishes.asked()
                if time.monotonic() < until and not wishes.is_lost:
                    time.sleep(ASK_SECONDS)
                    continue
                move = SessionMove.FAIL if report.move is SessionMove.FINISH else report.move
                return replace(
                    report, move=move, note=f"{report.note}; its work is on that machine only: {fault.message}"
                )
            return report

    def _report(self, record: ManagedSessionRecord, report: SessionReport) -> None:
        """Report the end, again and again while no store answers: then the session counts as lost."""
        until = time.monotonic() + _REPORT_SECONDS
        while True:
            try:
                answer = self.hold.report_managed_session(
                    record.id,
                    report,
                    attempt=record.attempt,
                    fence=record.fence,
                    request_id=f"report-{record.id}-{record.fence}",
                )
            except CommonholdError:
                if time.monotonic() >= until:
                    raise
                time.sleep(ASK_SECONDS)
            else:
                _log.info("turn ended", session=record.id, move=report.move, outcome=answer.outcome, why=answer.why)
                return

    def _environment(self, record: ManagedSessionRecord, ports: range) -> dict[str, str]:
        shared = {"COMMONHOLD_STORE": self.settings.store, "COMMONHOLD_NAMESPACE": self.settings.namespace}
        return environment_of(
            environment_without_git(),
            record.session.worker,
            self.files.label(record.id, record.fence),
            ports,
            {variable: value for variable, value in shared.items() if value},
        )

    def _spared(self) -> Collection[int]:
        """Return the processes of a daemon that a hook has started below this process: it serves others, too."""
        with suppress(OSError, CommonholdError):
            if daemon_files.is_running(self.state_folder):
                daemon = daemon_files.pid(self.state_folder) or 0
                below = descendants(os.getpid())
                return tuple(each for each in (daemon, parent_of(daemon)) if each in below)
        return ()


def agent_command(
    record: ManagedSessionRecord, prompt_file: str, workspace: str, log: Path | None
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the command of the agent, and the variables to add to its environment.

    In a later turn of an attempt, which has a `log`, a known agent resumes its own session, if its id is known; all
    others begin again in the workspace as it is.
    """
    session = record.session
    known = HEADLESS.get(session.agent)
    if known is None:
        return (SHELL, "-c", line_of_command(session.agent, prompt_file, workspace)), {}
    if log and (conversation := _conversation(record, known, log)):
        return known.resuming(session.task, workspace, conversation), known.environment
    return known.starting(session.task, workspace, _own_id(record)), known.environment


def _conversation(record: ManagedSessionRecord, agent: HeadlessAgent, log: Path) -> str:
    """Return the id of the agent's own session in an attempt: the one it has reported, or has got; empty if unknown."""
    file = open_log(log)
    if file is not None:
        with file:
            reported = report_in(agent.name, file).session
        if _IS_ID.fullmatch(reported):
            return reported
    return _own_id(record) if agent.takes_id else ""


def _own_id(record: ManagedSessionRecord) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{record.place}/{record.id}/{record.attempt}"))
