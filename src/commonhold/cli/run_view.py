"""The view of a run while it is carried out: a board on a terminal, a line for each event elsewhere, or JSON lines."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from commonhold.api.wire import event_shapes
from commonhold.api.wire.text import dumps
from commonhold.cli import colours, run_words
from commonhold.cli.common_options import Given
from commonhold.cli.describe import stamp
from commonhold.cli.output import complain, flush, is_terminal, say, send
from commonhold.cli.watch import in_place
from commonhold.client.session import Commonhold
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import Event, Recorded, run_id_of
from commonhold.kernel.run import ItemMoved, RunMove, RunMoved, RunPlanned, RunRecord, RunStarted
from commonhold.runs.answers import RunAnswer

_LOOK_SECONDS: Final = 0.25
_QUIET_SECONDS: Final = 3.0
_MOST_EVENTS: Final = 500


def watched_run(
    given: Given, hold: Commonhold, run: RunRecord, carry_out: Callable[[], RunAnswer], stop: threading.Event
) -> RunAnswer:
    """Carry out a run in another thread, and show it meanwhile; return how it has ended, or raise its error.

    Ctrl-C, or SIGTERM, sets `stop`, and the end is waited for; a second one is raised.
    """
    ended: list[RunAnswer | BaseException] = []
    has_ended = threading.Event()  # Python 3.11 takes a thread for dead if Ctrl-C interrupts its `join`

    def carry() -> None:
        try:
            ended.append(carry_out())
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
                    complain(f"stopping {run.id}: editors end, claims are given back (Ctrl-C again: leave at once)")
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
    after = _beginning(hold, run)
    quiet_since, said = time.monotonic(), ""

    def look() -> None:
        nonlocal after, quiet_since, said
        with suppress(CommonholdError):
            while events := hold.log(after=after, limit=_MOST_EVENTS):
                after = events[-1].sequence
                if own := [each for each in events if run_id_of(each.event) == run.id]:
                    _print(own, given)
                    quiet_since, said = time.monotonic(), ""
            if time.monotonic() - quiet_since >= _QUIET_SECONDS:
                quiet_since = time.monotonic()
                why = run_words.waiting(hold.runs(run.id).runs[0])
                if why and why != said:
                    complain(why)
                said = why

    yield look


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
    match event:
        case RunStarted():
            return f"{run_words.started(event)} begins"
        case RunPlanned():
            return run_words.planned(event)
        case RunMoved():
            return run_words.run_moved(event)
        case ItemMoved():
            return run_words.item_moved(event)
        case _:
            return ""
