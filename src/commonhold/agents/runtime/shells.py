"""Shell commands of agents: protect others' files while one runs, and record its writes in the log afterwards."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from commonhold.agents.runtime.command_records import CommandRecord, CommandRecords
from commonhold.agents.runtime.shell_messages import report
from commonhold.agents.runtime.shell_run import Run, nodes_of
from commonhold.agents.runtime.shell_trees import as_checked_out, is_made_since, trees_visited
from commonhold.agents.runtime.shell_writes import Open, Overwritten, head_of, newest_event, record_writes
from commonhold.agents.runtime.surveyors import Surveyors
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.agents.runtime.write_protection import (
    NOBODY,
    Asked,
    Leave,
    Prepared,
    Shape,
    answer_to,
    asked_by,
    leave_for,
    refused,
    repository_of,
    unwatched,
)
from commonhold.client.session import Commonhold
from commonhold.config import Settings, Shell, load_settings
from commonhold.kernel.errors import Code, CommonholdError
from commonhold.machine.system import RandomIds, named
from commonhold.shell.held_paths import OF_COMMAND
from commonhold.shell.reach import reach_of
from commonhold.workspace.repository import find_repository
from commonhold.workspace.sandbox.probing import NONE, Offer, offered
from commonhold.workspace.survey import Survey, Surveyor
from commonhold.workspace.survey.ground import ScanScope

_BY_KILL: Final = 137
_PART: Final = "+"
"""Separates the ticket of a command from the number of another working tree that it works in."""
MOST_REMEMBERED: Final = 4096
"""Limit of holders for whom it is remembered that a one-time step was done."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Decisions beside leases: why a command is refused (empty: it is not), and the preparation for it.

    `overwritten` informs other sessions which of their uncommitted work a command replaced, and returns the notices for
    its own agent. Content that HEAD had before the command (the last argument) counts as committed.
    """

    refused: Callable[[Asked, Commonhold], str] = lambda _asked, _session: ""
    prepared: Callable[[Asked, Commonhold], Prepared] = lambda _asked, _session: Prepared()
    overwritten: Overwritten = lambda _session, _taken, _head: ()


class Shells:
    """The shell commands that run in the working trees of a repository."""

    def __init__(
        self,
        open_session: Open,
        rules: Rules | None = None,
        offer: Callable[[], Offer] = offered,
        under_way: UnderWay | None = None,
        records: CommandRecords | None = None,
    ) -> None:
        """Open sessions with `open_session`; protect files with the means that the machine has on `offer`.

        Commands are `under_way` while they run. With their `records` the next daemon continues with them.
        """
        self._under_way = set() if under_way is None else under_way
        self._records = records
        self._open = open_session
        self._rules = rules or Rules()
        self._offer = offer
        self._ids = RandomIds()
        self._name = self._ids.new(OF_COMMAND)
        self._runs: dict[str, Run] = {}
        self._freed: dict[str, None] = {}
        self.surveyors = Surveyors()
        self._lock = threading.Lock()
        self._restoring = threading.Lock()
        self._is_restored = records is None

    def begin(self, told: Mapping[str, Any]) -> Shape:
        """Let a command run, or refuse it.

        Return the files that it must not write, and the ticket for reporting its end.
        """
        self._drop_unanswered(int(told.get("process", NOBODY)))
        return self._judged(replace(asked_by(told, self._ids.new(self._name)), has_stand_in=True), self._offer)

    def _drop_unanswered(self, process: int) -> None:
        """Forget a command that an earlier daemon has begun to answer: its launcher asks again."""
        self._restore()
        with self._lock:
            restored = [run for run in self._runs.values() if run.is_restored and not run.asked.call]
        for run in restored:
            if process != NOBODY and run.launcher == named(process):
                self._close(run)

    def watch(self, told: Mapping[str, Any]) -> Shape:
        """Do the same for a command that another program runs, or in a sandbox where nothing can be mounted."""
        return self._judged(asked_by(told, self._ids.new(self._name)), lambda: NONE)

    def _judged(self, asked: Asked, offer: Callable[[], Offer]) -> Shape:
        self.reap()
        repository = repository_of(asked)
        settings = load_settings(repository.root)
        if settings.shell == Shell.OFF:
            return unwatched()
        session = self._open(repository.root, asked.holder)
        is_begun = False
        try:
            self._free_once(session)
            refusal = self._rules.refused(asked, session)
            if refusal:
                return refused(refusal)
            kept_by = offer() if settings.shell == Shell.SANDBOX else NONE
            answer = self._begun(asked, session, ScanScope(repository, asked.cwd, asked.command), settings, kept_by)
            is_begun = "refusal" not in answer
        finally:
            if not is_begun:  # no end of it will be reported
                session.close()
        return answer

    def _begun(self, asked: Asked, session: Commonhold, ground: ScanScope, settings: Settings, offer: Offer) -> Shape:
        leave = leave_for(asked, session, ground, offer)
        if isinstance(leave, str):
            return refused(leave)
        try:
            prepared = self._rules.prepared(asked, session)
            run = self._note(asked, session, leave, ground, self.surveyors.of(session, ground, settings))
            for root in trees_visited(asked.command, asked.cwd, session.root):
                with suppress(CommonholdError, OSError):  # that tree is damaged, say; the command may run all the same
                    self._go_to(root, run)
        except BaseException:  # no end of it will be reported
            if leave.lease_id:
                session.release(leave.lease_id)
            raise
        return answer_to(asked, leave, ground, prepared)

    def _go_to(self, root: str, run: Run, *, is_made: bool = False) -> None:
        """Watch a command in another working tree, too; one that it has created (`is_made`) had no changes before."""
        repository, settings = find_repository(root), load_settings(root)
        with self._lock:
            number = len(self._parts(run.asked.ticket))
        asked = replace(run.asked, ticket=f"{run.asked.ticket}{_PART}{number}", call="")
        session = self._open(repository.root, asked.holder)
        try:
            ground = ScanScope(repository, asked.cwd, asked.command)
            surveyor = self.surveyors.of(session, ground, settings)
            before = as_checked_out(root) if is_made else None
            self._note(asked, session, Leave(reach=run.leave.reach), ground, surveyor, before)
        except BaseException:  # no end of it will be reported
            session.close()
            raise

    def _parts(self, ticket: str) -> list[Run]:
        """Return a command's runs, one for each working tree that it works in; the tree in which it began is last."""
        parts = [run for name, run in self._runs.items() if name.startswith(f"{ticket}{_PART}")]
        return [*parts, self._runs[ticket]] if ticket in self._runs else parts

    def _add_made(self, root: str, run: Run) -> None:
        with self._lock:
            is_known = any(each.session.root == root for each in self._parts(run.asked.ticket))
        if not is_known and is_made_since(root, run.begun_ns):
            with suppress(CommonholdError, OSError):  # no commit there yet, say: all files are new, and no session's
                self._go_to(root, run, is_made=True)

    def _note(
        self,
        asked: Asked,
        session: Commonhold,
        leave: Leave,
        ground: ScanScope,
        surveyor: Surveyor,
        before: Survey | None = None,
    ) -> Run:
        """Record the command, and the files as they are at its beginning (as `before` says, if that is given)."""
        # Read the log first: the events after this one explain a part of the differences at the end.
        sequence, begun_ns = newest_event(session), time.time_ns()
        before = before or surveyor.look(session.store_contents)
        paths = tuple(each.path for each in ground.concern)
        head = head_of(session.root)
        run = Run(asked, session, leave, paths, surveyor, sequence, before, begun_ns, head, list(leave.notices))
        run.launcher = named(asked.process)
        run.nodes = nodes_of(session.root, leave.masked)
        self._add(run)
        if self._records:
            self._records.add(run)
        return run

    def _add(self, run: Run) -> None:
        with self._lock:
            self._runs[run.asked.ticket] = run
            self._under_way.add(run.is_alive)

    def _restore(self) -> None:
        """Continue with the commands that a killed daemon left. Those that are over by now may have ended long ago."""
        with self._restoring:
            left = [] if self._is_restored or self._records is None else self._records.left()
            self._is_restored = True
            for record, before in left:
                with suppress(CommonholdError):  # its working tree is gone, say
                    self._add(self._restored(record, before))
                if record.asked.ticket not in self._runs and self._records:
                    self._records.forget(record.asked.ticket)

    def _restored(self, record: CommandRecord, before: Survey) -> Run:
        repository = find_repository(record.root)
        settings = load_settings(repository.root)
        session = self._open(repository.root, record.asked.holder)
        ground = ScanScope(repository, record.asked.cwd, record.asked.command)
        leave = Leave(record.masked, NONE, reach_of(record.asked.command), record.lease_id)
        surveyor = self.surveyors.of(session, ground, settings)
        run = Run(
            record.asked,
            session,
            leave,
            record.named,
            surveyor,
            record.sequence,
            before,
            record.begun_ns,
            record.head,
            [],
            record.launcher,
            is_restored=True,
            is_settled=False,
        )
        run.is_doubtful = not run.is_alive()
        return run

    def calls_restored(self) -> Mapping[tuple[str, str], str]:
        """Return the tickets of an earlier daemon's commands, by the holders and names that hooks use for them."""
        self._restore()
        with self._lock:
            runs = [run for run in self._runs.values() if run.is_restored and run.asked.call]
        return {(run.asked.holder, run.asked.call): run.asked.ticket for run in runs}

    def settle_restored(self, root: str) -> None:
        """Record the writes so far of an earlier daemon's commands in the working tree at `root`."""
        self._restore()
        with self._lock:
            runs = [run for run in self._runs.values() if not run.is_settled and run.session.root == root]
        self._settle_all(runs)

    def end(self, told: Mapping[str, Any]) -> Shape:
        """Do the same as `ended`, for a launcher."""
        ticket = str(told.get("ticket", ""))
        self._restore()
        if told.get("free"):
            self._free_of_masks(ticket)
        with self._lock:
            for run in self._parts(ticket):
                run.ended_ns = int(told.get("ended_ns", 0))
        return {"report": self.ended(ticket, int(told.get("status", 0)))}

    def _free_of_masks(self, ticket: str) -> None:
        """Record that its launcher could not mount: the command was kept from no file."""
        with self._lock:
            if run := self._runs.get(ticket):
                run.leave = replace(run.leave, masked=(), offer=NONE)

    def abandon(self, ticket: str) -> None:
        """End a watched command that perhaps never ran: only changes to files that it held are recorded as its own."""
        with self._lock:
            parts = self._parts(ticket)
        for run in parts:
            run.is_doubtful = True
        self.ended(ticket)

    def drop(self, ticket: str) -> None:
        """Forget a watched command that has not begun: a launcher runs it and asks itself."""
        with self._lock:
            parts = self._parts(ticket)
        for run in parts:
            self._close(run)

    def ended(self, ticket: str, status: int = 0) -> str:
        """Record the writes of a command; return the report for its agent."""
        with self._lock:
            run = self._runs.get(ticket)
        if run is None:
            return ""
        if not run.is_doubtful:
            # Watch it in the working trees that it has created and goes to.
            for root in trees_visited(run.asked.command, run.asked.cwd, run.session.root):
                self._add_made(root, run)
        with self._lock:
            parts = self._parts(ticket)
        return "\n".join(filter(None, [self._part_ended(each, status) for each in parts]))

    def _part_ended(self, run: Run, status: int) -> str:
        with run.turn:
            is_over = True
            try:
                self._settle(run, status)
            except CommonholdError as fault:
                # `reap` ends it again once its launcher is gone.
                is_over = not _is_passing(fault) or run.asked.process == NOBODY
                raise
            finally:
                # Not earlier: its unrecorded changes would be noticed as no session's.
                if is_over:
                    self._close(run)
        return "\n".join(filter(None, run.told))

    def _settle(self, run: Run, status: int) -> None:
        # A working tree that the command has removed cannot be surveyed.
        if run.asked.ticket in self._runs and Path(run.session.root).is_dir():
            outcome = record_writes(run, status, self._others, self._open, self._rules.overwritten)
            run.told.append(report(outcome, run.leave.masked, time.time()))

    def _close(self, run: Run) -> None:
        with self._lock:
            is_open = self._runs.pop(run.asked.ticket, None) is not None
        if is_open:
            try:
                if run.leave.lease_id is not None:
                    run.session.release(run.leave.lease_id)
            finally:
                run.session.close()
                self._under_way.discard(run.is_alive)
                if self._records:
                    self._records.forget(run.asked.ticket)

    def close(self) -> None:
        """Close the connections for commands even while they run; the commands and their leases stay."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.session.close()
        self.surveyors.close()
        if self._records:
            self._records.close()

    def free(self, session: Commonhold) -> None:
        """Release an earlier daemon's leases for commands of a session: that daemon got no report of their end."""
        for lease in session.leases():
            ticket = lease.acquisition_id
            is_known = ticket.startswith(self._name) or ticket in self._runs
            if lease.holder == session.holder and ticket.startswith(OF_COMMAND) and not is_known:
                session.release(lease.id)

    def _free_once(self, session: Commonhold) -> None:
        """Do the same once for a session without a reported start: it runs its commands with `commonhold exec`."""
        if session.holder not in self._freed:
            self.free(session)
            self._freed[session.holder] = None
            if len(self._freed) > MOST_REMEMBERED:  # then it may be done again for the oldest
                del self._freed[next(iter(self._freed))]

    def settle(self, root: str, holder: str) -> None:
        """Record the writes so far of a holder's commands in the working tree at `root`."""
        self._restore()
        with self._lock:
            of_holder = [run for run in self._runs.values() if run.asked.holder == holder]
        for run in of_holder:
            if _PART not in run.asked.ticket:
                self._add_made(root, run)
        with self._lock:
            runs = [run for run in self._runs.values() if (run.session.root, run.asked.holder) == (root, holder)]
        self._settle_all(runs)

    def _settle_all(self, runs: Iterable[Run]) -> None:
        for run in runs:
            with run.turn:
                self._settle(run, 0)

    def may_write(self, root: str, path: str) -> bool:
        """Whether a running command could be writing a file of the working tree at `root`; its end records that."""
        with self._lock:
            return any(run.session.root == root and run.reach(path) for run in self._runs.values())

    def reap(self) -> None:
        """End the commands whose launcher is gone without reporting their end."""
        self._restore()
        with self._lock:
            gone = [ticket for ticket, run in self._runs.items() if not run.is_alive()]
            whole = [ticket for ticket in gone if _PART not in ticket]
            gone = [*whole, *(ticket for ticket in gone if ticket.partition(_PART)[0] not in whole)]
        for ticket in gone:
            with suppress(CommonholdError):
                self.ended(ticket, _BY_KILL)

    def _others(self, run: Run) -> list[Run]:
        """Return the other commands in that tree. Ended ones were surveyed, so they left no unrecorded change."""
        with self._lock:
            return [each for each in self._runs.values() if each is not run and each.session.root == run.session.root]


def _is_passing(fault: CommonholdError) -> bool:
    """Whether a failed step may succeed later."""
    return fault.retryable or fault.code == Code.DISK_FULL
