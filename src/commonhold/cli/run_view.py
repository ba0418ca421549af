"""The view of a run while it is carried out: a board on a terminal, a line for each event elsewhere, or JSON lines."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol

from commonhold.api.wire import event_shapes
from commonhold.api.wire.text import dumps
from commonhold.cli import colours, queue_words, run_words, session_words
from commonhold.cli.common_options import Given
from commonhold.cli.describe import stamp
from commonhold.cli.output import complain, flush, is_terminal, say, send
from commonhold.cli.watch import in_place
from commonhold.client.session import Commonhold
from commonhold.kernel.entry import EntryAdded, EntryMoved
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import Event, Recorded, run_id_of
from commonhold.kernel.managed_session import SessionMoved, SessionQueued
from commonhold.kernel.run import ItemMoved, RunMove, RunMoved, RunPlanned, RunRecord, RunStarted
from commonhold.runs.answers import RunAnswer

_LOOK_SECONDS: Final = 0.25
_QUIET_SECONDS: Final = 3.0
_MOST_EVENTS: Final = 500


class RunCoordinator(Protocol):
    """Carries out a run until its end, or until `stop` is set."""

    @property
    def stop(self) -> threading.Event:
        """Ends it in order."""
        ...

    def carry_out(self, run: RunRecord) -> RunAnswer:
        """Carry out a run that has begun."""
        ...


def watched_run(given: Given, hold: Commonhold, coordinator: RunCoordinator, begun: RunAnswer) -> RunAnswer:
    """Carry out a run in another thread, and show it meanwhile; return how it has ended, or raise its error.

    Ctrl-C, or SIGTERM, stops the coordinator, and the end is waited for; a second one is raised.
    """
    run, stop = begun.runs[0].run, coordinator.stop
    ended: list[RunAnswer | BaseException] = []
    has_ended = threading.Event()  # Python 3.11 takes a thread for dead if Ctrl-C interrupts its `join`

    def carry() -> None:
        try:
            ended.append(coordinator.carry_out(run))
        except BaseException as fault:  # noqa: BLE001 - raised again below
            ended.append(fault)
        has_ended.set()

    working = threading.Thread(target=carry, name="coordinator", daemon=True)
    with _terminated_as_interrupted():
        working.start()
        show = _board(hold, run) if _has_board(given) else _lines(given, hold, run)
        with show as look:
            while not has_ended.is_set():
                try:
                    look()
                    has_ended.wait(_LOOK_SECONDS)
                except KeyboardInterrupt:
                    if stop.is_set():
                        raise
                    stop.set()
                    ending = "its sessions pause" if run.run.isolated else "editors end, claims are given back"
                    complain(f"stopping {run.id}: {ending} (Ctrl-C again: leave at once)")
            look()
    answer = ended[0]
    if isinstance(answer, BaseException):
        raise answer
    return answer


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _has_board(given: Given) -> bool:
    return not given.as_json and is_terminal() and not colours.is_plain()


@contextmanager
def _board(hold: Commonhold, run: RunRecord) -> Iterator[Callable[[], None]]:
    with in_place("Ctrl-C stops the run in order", "commonhold run show") as draw:

        def look() -> None:
            with suppress(CommonholdError):  # the coordinator reports what cannot be used
                draw(list(run_words.details(hold.runs(run.id).runs[0])))

        yield look


@contextmanager
def _lines(given: Given, hold: Commonhold, run: RunRecord) -> Iterator[Callable[[], None]]:
    after = 0
    is_own: _OwnEvents | None = None
    quiet_since, said = time.monotonic(), ""

    def look() -> None:
        nonlocal after, is_own, quiet_since, said
        with suppress(CommonholdError):  # the coordinator waits longer for a store, and ends with this thread
            if is_own is None:
                after, is_own = _beginning(hold, run), _OwnEvents(hold, run)
            while events := hold.log(after=after, limit=_MOST_EVENTS):
                after = events[-1].sequence
                if own := [each for each in events if is_own(each.event)]:
                    _print(own, given)
                    quiet_since, said = time.monotonic(), ""
            if time.monotonic() - quiet_since >= _QUIET_SECONDS:
                quiet_since = time.monotonic()
                why = run_words.waiting(hold.runs(run.id).runs[0])
                if why and why != said:
                    complain(why)
                said = why

    yield look


class _OwnEvents:
    """Tells the events of a run from others: in an isolated one those of its sessions and their entries are its own."""

    def __init__(self, hold: Commonhold, run: RunRecord) -> None:
        self._run = run
        self._tasks: set[str] = set()
        self._ids: set[str] = set()
        if run.run.isolated:
            self._tasks = {each.item.task_id for each in hold.runs(run.id).runs[0].items}
            sessions = hold.managed_sessions().sessions
            self._ids = {each.record.id for each in sessions if each.record.session.task_id in self._tasks}
            self._ids |= {each.record.id for each in hold.entries().entries if each.record.entry.session in self._ids}

    def __call__(self, event: Event) -> bool:
        match event:
            case RunPlanned(run_id=run_id, tasks=tasks) if run_id == self._run.id:
                self._tasks |= {*tasks}
            case SessionQueued(session=session) if session.task_id in self._tasks:
                self._ids.add(session.id)
                return True
            case EntryAdded(entry=entry) if entry.session in self._ids:
                self._ids.add(entry.id)
                return True
            case SessionMoved(session_id=name) | EntryMoved(entry_id=name):
                return name in self._ids
            case _:
                pass
        return run_id_of(event) == self._run.id


def _beginning(hold: Commonhold, run: RunRecord) -> int:
    """Return the number of the event before this coordinator began, or resumed, the run."""
    looked = begun = max(0, run.number - 2)  # the lease of the run stands before it
    while events := hold.log(after=looked, limit=_MOST_EVENTS):
        looked = events[-1].sequence
        resumed = (each.sequence - 1 for each in events if _is_resumption(each.event, run.id))
        begun = max(resumed, default=begun)
    return begun


def _is_resumption(event: Event, run_id: str) -> bool:
    return isinstance(event, RunMoved) and event.run_id == run_id and event.move is RunMove.RESUME


def _print(events: list[Recorded], given: Given) -> None:
    if given.as_json:
        send("".join(dumps(each, indent=0) + "\n" for each in event_shapes.log(events)["events"]).encode())
    else:
        say(f"{stamp(each.at)}  {words_of(each.event)}" for each in events)
    flush()


def words_of(event: Event) -> str:
    """Tell of an event of a run."""
    tell = _WORDS.get(type(event))
    return tell(event) if tell else ""


_WORDS: Final[Mapping[type[Any], Callable[[Any], str]]] = {
    RunStarted: lambda event: f"{run_words.started(event)} begins",
    RunPlanned: run_words.planned,
    RunMoved: run_words.run_moved,
    ItemMoved: run_words.item_moved,
    SessionQueued: lambda event: f"session {session_words.queued(event)}",
    SessionMoved: lambda event: f"session {session_words.moved(event)}",
    EntryAdded: lambda event: f"entry {queue_words.added(event)}",
    EntryMoved: lambda event: f"entry {queue_words.moved(event)}",
}
