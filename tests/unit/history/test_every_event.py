"""Every kind of event, with every member of its enumerations, has its words, its span, its JSON and its replay.

The events are derived from the types, so that a new kind or member is missing here until it has all of them.
"""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import pytest

from commonhold.api.wire import event_shapes
from commonhold.cli.log import _lines as log_lines
from commonhold.history import run_checks, task_checks
from commonhold.history.ledger import Ledger
from commonhold.history.reasons import code_of, reasons
from commonhold.history.traces import traces
from commonhold.history.wording import sentence
from commonhold.kernel.entry import ENTRY_TRANSITIONS, EntryMoved
from commonhold.kernel.events import KINDS, Event, Recorded
from commonhold.kernel.managed_session import SESSION_TRANSITIONS, SessionMoved
from commonhold.kernel.projection import State
from commonhold.kernel.run import ITEM_TRANSITIONS, RUN_TRANSITIONS, ItemMoved, RunMoved
from commonhold.kernel.task import TRANSITIONS, Attempt, Move, Result, Task, TaskMoved, TaskRecord, TaskState
from commonhold.stores import codec

KEY = "account:1"
"""A text that is a name, a note and a key at the same time."""


def example(hint: Any) -> Any:
    """Return a value of a type, the same each time."""
    if isinstance(hint, UnionType):
        return example(next(each for each in get_args(hint) if each is not type(None)))
    if get_origin(hint) is tuple:
        return (example(get_args(hint)[0]),)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return next(iter(hint))
    if is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint)
        return hint(**{each.name: example(hints[each.name]) for each in fields(hint) if each.init})
    return {str: KEY, int: 1, float: 1.0, bool: True}[hint]


def variants(event: Event) -> Iterator[Event]:
    """Yield an event with every member of each enumeration among its fields, and with None where that is possible."""
    hints = get_type_hints(type(event))
    for each in fields(event):
        value = getattr(event, each.name)
        if isinstance(value, StrEnum):
            yield from (replace(cast("Any", event), **{each.name: member}) for member in type(value))
        if type(None) in get_args(hints[each.name]):
            yield replace(cast("Any", event), **{each.name: None})


EVENTS = tuple(each for kind in KINDS.values() for event in [example(kind)] for each in (event, *variants(event)))


def test_each_kind_and_each_member_is_among_the_examples() -> None:
    assert {type(each) for each in EVENTS} == set(KINDS.values())
    assert {each.move for each in EVENTS if isinstance(each, TaskMoved)} == {move for _, move in TRANSITIONS}
    assert {each.move for each in EVENTS if isinstance(each, RunMoved)} == {move for _, move in RUN_TRANSITIONS}
    assert {each.move for each in EVENTS if isinstance(each, EntryMoved)} == {move for _, move in ENTRY_TRANSITIONS}
    moves = {each.move for each in EVENTS if isinstance(each, SessionMoved)}
    assert moves == {move for _, move in SESSION_TRANSITIONS}
    assert {each.step for each in EVENTS if isinstance(each, ItemMoved)} == {step for _, step in ITEM_TRANSITIONS}


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_has_its_words_its_span_and_its_json(kind: str) -> None:
    for event in (each for each in EVENTS if type(each) is KINDS[kind]):
        recorded = Recorded(1, 1.0, event)
        ledger = Ledger([recorded])
        assert sentence(event, ledger).endswith(".")
        assert all(reason.endswith(".") for reason in reasons(recorded, ledger))
        assert isinstance(code_of(event), str)
        assert json.loads(json.dumps(traces([recorded], "1.0")))
        assert json.loads(json.dumps(event_shapes.log([recorded])))
        assert codec.decode_event(*codec.encode_event(event)) == event
        assert list(log_lines([recorded]))


def test_no_two_transitions_are_told_in_the_same_words() -> None:
    moved = [each for each in EVENTS if isinstance(each, TaskMoved | RunMoved | ItemMoved | EntryMoved | SessionMoved)]
    by_move = {(type(each), getattr(each, "step", "") or getattr(each, "move", "")): each for each in moved}
    assert len({sentence(each, Ledger([])) for each in by_move.values()}) == len(by_move)


@pytest.mark.parametrize(("before", "move"), TRANSITIONS)
def test_replay_knows_the_decision_behind_each_transition_of_a_task(before: TaskState, move: Move) -> None:
    result = Result(commit="c" * 40)
    attempt = Attempt(1, "ann", "lease-1", 0.0)
    record = TaskRecord(
        Task("price", "price"), 1, "ann", 0.0, 0.0, before, 1, 1, "ann", "lease-1", 2, result, attempts=(attempt,)
    )
    event = TaskMoved("ann", "price", move, 1, "why", to="ann", lease_id="lease-1", fence=3, result=result)
    state = State(tasks={"price": record})
    assert run_checks.is_of_run(event) or task_checks.decided_again(state, [Recorded(3, 1.0, event)]) is not None
