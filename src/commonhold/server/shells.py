"""Shell commands of agents: what one may write while it runs, and what it wrote, taken into the log afterwards."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from commonhold.adapters.sandbox.probing import NONE, Offer, offered
from commonhold.adapters.survey import Change, Survey, Surveyor
from commonhold.adapters.survey.ground import Ground
from commonhold.adapters.system import RandomIds, is_running, named
from commonhold.app.answers import TakeAnswer
from commonhold.app.attribution import Reach, attributed
from commonhold.app.giving import Given, parted
from commonhold.client.session import Commonhold
from commonhold.config import Settings, Shell, load_settings
from commonhold.domain.errors import Code, CommonholdError
from commonhold.domain.events import Committed
from commonhold.server.shell_leave import (
    NOBODY,
    Asked,
    Leave,
    Prepared,
    Shape,
    answer_to,
    asked_by,
    leave_for,
    lost_to,
    refused,
    repository_of,
    unwatched,
)
from commonhold.server.shell_words import Outcome, bounds, report
from commonhold.server.under_way import UnderWay

_PAGE: Final = 1000
_BY_KILL: Final = 137
_PROCESSES: Final = Path("/proc")
_SHELL: Final = "shell"
MOST_REMEMBERED: Final = 4096
"""Of so many holders is remembered what was done once for each."""

Open = Callable[[str, str], Commonhold]
"""The session on the working tree at a root, for a holder."""


def anything(_path: str) -> bool:
    """Reach any file."""
    return True


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides beside leases: why a command is refused (empty: it is not), and what is prepared for it.

    `reserved` are paths in the working tree that none is given.
    """

    refused: Callable[[Asked, Commonhold], str] = lambda _asked, _session: ""
    prepared: Callable[[Asked, Commonhold], Prepared] = lambda _asked, _session: Prepared()
    reserved: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class _Run:
    """A command that runs in one working tree. `given` is what it is kept to, None where nothing keeps it.

    `foretold` is what it is kept to if its launcher goes by that. `beside` is what other commands could write that ran
    there at the same time, by their tickets; no more is kept of them, since beside one that goes on there may be any
    number. `told` is what its agent will be told. `launcher` is the process that waits for it.
    """

    asked: Asked
    session: Commonhold
    given: Given | None
    lease_id: str | None
    surveyor: Surveyor
    sequence: int
    before: Survey
    told: list[str]
    launcher: str = ""
    foretold: Given | None = None
    beside: dict[str, Reach] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def is_alive(self) -> bool:
        """Whether its launcher is there still, as far as that can be told."""
        return self.asked.process == NOBODY or not Path(_PROCESSES, "self").exists() or is_running(self.launcher)

    @property
    def reaches(self) -> Reach:
        """Says whether it could write a file."""
        return anything if self.given is None else self.given.reaches


@dataclass(frozen=True, slots=True)
class _Begun:
    """A command that may run now: what it may write, in which place, by which settings."""

    run: _Run
    leave: Leave
    ground: Ground
    settings: Settings


@dataclass(frozen=True, slots=True)
class _Judged:
    """What whoever asks is answered, and what has begun with that; nothing where it is refused, or let be."""

    answer: Shape
    begun: _Begun | None = None


class Shells:
    """The shell commands that run in the working trees of a repository."""

    def __init__(
        self,
        open_session: Open,
        rules: Rules | None = None,
        offer: Callable[[], Offer] = offered,
        under_way: UnderWay | None = None,
    ) -> None:
        """Speak to the service by `open_session`; keep commands by what the machine has on `offer`.

        Commands are `under_way` while they run.
        """
        self._under_way = set() if under_way is None else under_way
        self._open = open_session
        self._rules = rules or Rules()
        self._offer = offer
        self._ids = RandomIds()
        self._name = self._ids.new(_SHELL)
        self._runs: dict[str, _Run] = {}
        self._know_bounds: dict[str, None] = {}
        self._freed: dict[str, None] = {}
        self._surveyors: dict[tuple[str, tuple[str, ...], int], Surveyor] = {}
        self._lock = threading.Lock()

    def begin(self, told: Mapping[str, Any]) -> Shape:
        """Let a command run, or refuse it: what it may write, and the ticket to tell its end by."""
        return self._judged(told, self._offer).answer

    def watch(self, told: Mapping[str, Any]) -> Shape:
        """The same for a command that somebody else runs, whom nothing keeps from writing what it may not."""
        return self._judged(told, lambda: NONE).answer

    def foretell(self, told: Mapping[str, Any]) -> tuple[Shape, Shape]:
        """The same, and what would keep it in a sandbox of its agent's, where nobody can be asked."""
        judged = self._judged(told, lambda: NONE)
        return judged.answer, judged.answer if judged.begun is None else self._foretold(judged.begun)

    def _foretold(self, begun: _Begun) -> Shape:
        """In there nothing can be taken out of what is given, nor can it for whom nothing keeps: it is the same."""
        given = begun.leave.given
        offer = _without_mounts(self._offer()) if begun.settings.shell == Shell.SANDBOX else NONE
        if lost := lost_to(given, begun.ground, offer):
            return refused(lost)
        asked = replace(begun.run.asked, ticket="")
        answer = answer_to(asked, Leave(given, offer), begun.ground, Prepared())
        begun.run.foretold = given if offer.is_enforced else None
        return answer | {"if_failed": bounds(given, "use your edit tool") if offer.is_enforced else ""}

    def confirm(self, ticket: str) -> None:
        """A launcher has come that goes by what was foretold: from now on the command is taken for kept to that."""
        with self._lock:
            run = self._runs.get(ticket)
            if run is not None:
                run.given = run.foretold
                for other in self._runs.values():
                    if ticket in other.beside:
                        other.beside[ticket] = run.reaches

    def _place(self, asked: Asked) -> tuple[Ground, Settings]:
        repository = repository_of(asked)
        settings = load_settings(repository.root)
        return Ground(repository, asked.cwd, asked.command, tuple(settings.writable), self._rules.reserved), settings

    def _judged(self, told: Mapping[str, Any], offer: Callable[[], Offer]) -> _Judged:
        self.reap()
        asked = asked_by(told, self._ids.new(self._name))
        ground, settings = self._place(asked)
        if settings.shell == Shell.OFF:
            return _Judged(unwatched())
        session = self._open(ground.repository.root, asked.holder)
        try:
            self._free_once(session)
            refusal = self._rules.refused(asked, session)
            kept_by = _inside(offer(), asked) if settings.shell == Shell.SANDBOX else NONE
            judged = _Judged(refused(refusal)) if refusal else self._begun(asked, session, ground, settings, kept_by)
        except BaseException:  # nobody will end what has not begun
            session.close()
            raise
        if judged.begun is None:
            session.close()
        return judged

    def _begun(self, asked: Asked, session: Commonhold, ground: Ground, settings: Settings, offer: Offer) -> _Judged:
        leave = leave_for(asked, session, ground, offer)
        if isinstance(leave, str):
            return _Judged(refused(leave))
        try:
            prepared = self._rules.prepared(asked, session)
            run = self._note(asked, session, leave, self._surveyor(session, ground, settings))
        except BaseException:  # nobody will end what has not begun
            if leave.lease_id:
                session.release(leave.lease_id)
            raise
        return _Judged(answer_to(asked, leave, ground, prepared), _Begun(run, leave, ground, settings))

    def _note(self, asked: Asked, session: Commonhold, leave: Leave, surveyor: Surveyor) -> _Run:
        """Remember the command, and all that runs beside it."""
        given = leave.given if leave.offer.is_enforced else None
        # The log first: what is written into it from now on explains a part of what will differ.
        sequence = _newest(session)
        before = surveyor.look(session.keep)
        run = _Run(asked, session, given, leave.lease_id, surveyor, sequence, before, list(leave.notices))
        run.launcher = named(asked.process)
        with self._lock:
            for other in self._runs.values():
                if other.session.root == session.root:
                    other.beside[asked.ticket] = run.reaches
                    run.beside[other.asked.ticket] = other.reaches
            self._runs[asked.ticket] = run
            self._under_way.add(run.is_alive)
        return run

    def _surveyor(self, session: Commonhold, ground: Ground, settings: Settings) -> Surveyor:
        name = session.root, tuple(settings.ignore), settings.max_file_bytes
        with self._lock:
            if name not in self._surveyors:
                kept = {root: each for root, each in self._surveyors.items() if _is_of_another_tree(root[0], name[0])}
                made = Surveyor(name[0], ground.git, ignored=settings.ignore, max_file_bytes=settings.max_file_bytes)
                self._surveyors = {**kept, name: made}
            return self._surveyors[name]

    def end(self, told: Mapping[str, Any]) -> Shape:
        """The same as `ended`, for a launcher."""
        return {"report": self.ended(str(told.get("ticket", "")), int(told.get("status", 0)))}

    def abandon(self, ticket: str) -> None:
        """End what was watched and perhaps never ran: what is found then is laid on nobody, but for what it held."""
        with self._lock:
            run = self._runs.get(ticket)
        if run is not None:
            run.beside[ticket] = anything
            self.ended(ticket)

    def drop(self, ticket: str) -> None:
        """Forget what was watched and has not begun: a launcher runs it, which asks for itself."""
        with self._lock:
            run = self._runs.get(ticket)
            for other in self._runs.values():
                other.beside.pop(ticket, None)
        if run is not None:
            self._close(run)

    def ended(self, ticket: str, status: int = 0) -> str:
        """Take what a command wrote into the log, and say what its agent must know of it."""
        with self._lock:
            run = self._runs.get(ticket)
        if run is None:
            return ""
        with run.turn:
            is_over = True
            try:
                self._settle(run, status)
            except CommonholdError as fault:
                # It is ended again once its launcher is seen to be gone.
                is_over = not _is_passing(fault) or run.asked.process == NOBODY
                raise
            finally:
                # Not before: what is not recorded yet would be noticed as nobody's.
                if is_over:
                    self._close(run)
        return "\n".join(filter(None, run.told))

    def _settle(self, run: _Run, status: int) -> None:
        # Of a tree that the command has taken away nothing is left to be looked at.
        if run.asked.ticket in self._runs and Path(run.session.root).is_dir():
            run.told.append(report(self._settled(run, status), self._bounds_to_tell(run, status)))

    def _close(self, run: _Run) -> None:
        with self._lock:
            is_open = self._runs.pop(run.asked.ticket, None) is not None
        if is_open:
            try:
                if run.lease_id is not None:
                    run.session.release(run.lease_id)
            finally:
                run.session.close()
                self._under_way.discard(run.is_alive)

    def close(self) -> None:
        """Let go of the connections for commands that run still: they stay as they are, and so do their leases."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.session.close()

    def free(self, session: Commonhold) -> None:
        """Release what a daemon before this one leased for commands of a session: it heard of no end of theirs."""
        for lease in session.leases():
            ticket = lease.acquisition_id
            if lease.holder == session.holder and ticket.startswith(_SHELL) and not ticket.startswith(self._name):
                session.release(lease.id)

    def _free_once(self, session: Commonhold) -> None:
        """The same for one that no hook has told to have come: it runs its commands with `commonhold exec`."""
        if session.holder not in self._freed:
            self.free(session)
            _remember(self._freed, session.holder)

    def settle(self, root: str, holder: str) -> None:
        """Take what the commands of a holder have written so far, in the working tree at `root`, into the log."""
        with self._lock:
            runs = [run for run in self._runs.values() if (run.session.root, run.asked.holder) == (root, holder)]
        for run in runs:
            with run.turn:
                self._settle(run, 0)

    def _bounds_to_tell(self, run: _Run, status: int) -> Given | None:
        """What a command that failed was kept to: each holder is told so once, since most fail for another reason."""
        if not status or run.asked.holder in self._know_bounds:
            return None
        _remember(self._know_bounds, run.asked.holder)
        return run.given

    def may_write(self, root: str, path: str) -> bool:
        """Whether a command that runs could be writing a file of the working tree at `root`: its end will tell."""
        with self._lock:
            return any(run.session.root == root and run.reaches(path) for run in self._runs.values())

    def reap(self) -> None:
        """End the commands whose launcher is no more, without having told their end."""
        with self._lock:
            gone = [ticket for ticket, run in self._runs.items() if not run.is_alive()]
        for ticket in gone:
            with suppress(CommonholdError):
                self.ended(ticket, _BY_KILL)

    def _settled(self, run: _Run, status: int) -> Outcome:
        # Before the look: who gets a lease after it may write already what the look does not show.
        leases = run.session.leases()
        after = run.surveyor.look(run.session.keep)
        found = run.surveyor.changes(run.before, after, run.session.keep)
        changes, sequence = _unexplained(found, run.session, run.sequence)
        readable = {change.path: change.before for change in changes if not change.is_unread}
        sorted_ = attributed(readable, run.reaches, [*run.beside.values()], *parted(leases, run.asked.holder))
        intent = run.asked.intent
        if sorted_.nobody:
            run.session.notice(sorted_.nobody, intent=intent)
        own = {path: readable[path] for path in sorted_.own}
        taken = run.session.take(own, intent=intent) if own else TakeAnswer("nothing")
        run.before, run.sequence = after, sequence
        unread = tuple(change.path for change in changes if change.is_unread and run.reaches(change.path))
        return Outcome(run.asked.holder, status, taken, sorted_.nobody, unread)


def _inside(offer: Offer, asked: Asked) -> Offer:
    """What can keep a command where it is asked for."""
    return _without_mounts(offer) if asked.is_kept else offer


def _without_mounts(offer: Offer) -> Offer:
    """What can keep a command in a sandbox: in there nothing can be mounted, and no other begun."""
    return replace(offer, can_mask=False) if offer.is_enforced and not offer.program else NONE


def _is_passing(fault: CommonholdError) -> bool:
    """Whether what could not be done may be done later."""
    return fault.retryable or fault.code == Code.DISK_FULL


def _is_of_another_tree(root: str, new: str) -> bool:
    """Whether it is one that is still there: what is remembered of trees is much, and they come and go."""
    return root != new and Path(root).is_dir()


def _newest(session: Commonhold) -> int:
    return max((each.sequence for each in session.log(limit=1)), default=0)


def _unexplained(changes: Sequence[Change], session: Commonhold, since: int) -> tuple[tuple[Change, ...], int]:
    """The changes that the log does not tell already, from where it leaves them; and how far it was read."""
    told: dict[str, str | None] = {}
    newest = since
    while page := session.log(after=newest, limit=_PAGE):
        newest = page[-1].sequence
        for recorded in page:
            if isinstance(recorded.event, Committed) and recorded.event.worktree == session.root:
                told |= {file.path: file.after for file in recorded.event.files}
    left = (replace(each, before=told[each.path]) if each.path in told else each for each in changes)
    return tuple(each for each in left if each.is_unread or each.before != each.after), newest


def _remember(holders: dict[str, None], holder: str) -> None:
    """Add a holder, and forget the oldest of too many: what is done once for each may be done again."""
    holders[holder] = None
    if len(holders) > MOST_REMEMBERED:
        del holders[next(iter(holders))]
