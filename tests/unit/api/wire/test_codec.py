"""Values come back from JSON as they were, and the same value gives the same bytes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from commonhold.kernel.answers import (
    AcquireAnswer,
    CommitAnswer,
    LeaseAnswer,
    MergedRegion,
    Next,
    Obstacle,
    RegionHash,
    Repair,
    RepairRegion,
    RequiredEdit,
    Unmerged,
)
from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import KINDS, Committed, Event, FileChange, LeaseGranted
from commonhold.kernel.lease import Conflict, Lease, Waiter
from commonhold.kernel.obligations import Debt
from commonhold.kernel.outcomes import Denied, NotHeld, NotStored, Stored
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value
from commonhold.stores import codec, kept_answers

st.register_type_strategy(Lease, strategies.leases)
st.register_type_strategy(Waiter, strategies.waiters)
st.register_type_strategy(Deadline, strategies.deadlines)
st.register_type_strategy(Conflict, strategies.conflicts)
st.register_type_strategy(FileChange, strategies.file_changes)
events = st.sampled_from(sorted(KINDS)).flatmap(lambda kind: st.from_type(KINDS[kind]))

ANSWERS = [
    AcquireAnswer("denied", next=Next("acquire", {"keys": ["a"], "task": "é"}, "why")),
    AcquireAnswer("granted", regions=(RegionHash("file:a", None),), notices=("n",)),
    LeaseAnswer("refused", None, Refusal.LEASE_LOST, "why", Next("leases", {})),
    CommitAnswer(
        "refused",
        Refusal.REGION_CHANGED,
        required=(RequiredEdit("k", "w", "a:1"),),
        repair=Repair((RepairRegion("k", "h", "t\n"),), (Unmerged("k", (Obstacle("GATE", "w"),)),)),
        sequence=3,
    ),
    CommitAnswer("merged", merged=(MergedRegion("k", "h", "t\n", notes=("n",)),)),
    Denied((), Refusal.DEADLOCK),
    NotHeld(Refusal.LEASE_LOST, "lease-1", "why"),
    Stored(Value("account:1", 3, "a\nb", "one", 1.5)),
    NotStored(Refusal.READ_CHANGED, "why", (Value("account:1"),)),
]


def test_a_debt_from_before_its_cause_was_recorded_comes_back() -> None:
    debt = b'{"key":"file:a.py#f","holder":"one","why":"why","worktree":"/w"}'
    body = b'{"holder":"one","intent":"","worktree":"/w","leases":[],"files":[],"regions":[],"debts":[%b]}' % debt
    event = codec.decode_event("committed", body)
    assert isinstance(event, Committed)
    assert event.debts == (Debt("file:a.py#f", "one", "why", "/w", (), ""),)


@given(events)
def test_every_event_comes_back(event: Event) -> None:
    kind, body = codec.encode_event(event)
    assert codec.decode_event(kind, body) == event
    assert codec.encode_event(codec.decode_event(kind, body)) == (kind, body)


@pytest.mark.parametrize(
    "answer", ANSWERS, ids=lambda answer: f"{type(answer).__name__} {getattr(answer, 'outcome', '')}"
)
def test_every_answer_comes_back(answer: object) -> None:
    kind, body = kept_answers.encode_answer(answer)
    assert kept_answers.decode_answer(kind, body) == answer
    assert kept_answers.encode_answer(kept_answers.decode_answer(kind, body)) == (kind, body)


@given(strategies.leases)
def test_a_lease_with_its_answer_comes_back(lease: Lease) -> None:
    answer = AcquireAnswer("granted", lease)
    assert kept_answers.decode_answer(*kept_answers.encode_answer(answer)) == answer


@given(strategies.leases)
def test_a_lease_is_encoded_once_for_its_event_and_for_itself(lease: Lease) -> None:
    _, body = codec.encode_event(LeaseGranted(lease))
    assert codec.only_part(body.decode(), "lease") == codec.encode(lease).decode()


def test_the_order_of_a_mapping_does_not_matter() -> None:
    assert codec.encode({"b": 1, "a": 2}) == codec.encode({"a": 2, "b": 1})


@given(st.lists(strategies.texts))
def test_texts_come_back(texts: list[str]) -> None:
    assert codec.decode(codec.encode(texts), tuple[str, ...]) == tuple(texts)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(KeyError):
        codec.decode_event("lease_dreamt", b"{}")


def test_what_is_not_of_the_type_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        codec.decode(b'{"id": 1}', Lease)
