"""The answers of commands that play a role: read to the letter, and a failure with its reason where that cannot be."""

import json

import pytest

from commonhold.coordinator.request_shapes import edited, item_request, one_line, planned, replanned, verdict
from commonhold.coordinator.roles import Edited, ItemRequest, Planned, Replanned, RoleFailed, Verdict
from commonhold.kernel.answers import RegionText
from commonhold.kernel.keys import Kind
from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemRecord,
    Locking,
    LockPlan,
    Role,
    RoleMessage,
    Run,
    TokenUsage,
)
from commonhold.kernel.task import Task

REGION = RegionText("file:a.py#f", "id", Kind.FUNCTION, "h" * 64, "def f(): ...\n")
ITEM = ItemRecord(
    *("r1", "a", 1, 1, 0.0),
    round=2,
    refusals=1,
    locks=LockPlan(Locking.LEASED, (REGION.key,), "again"),
    candidate=EditCandidate(1, '{"edits": []}'),
    outcome=CandidateOutcome("REGION_CHANGED", "it was changed", (REGION.key,), repair='{"code": "REGION_CHANGED"}'),
    messages=(
        RoleMessage(Role.EDITOR, "keep the name", Role.VALIDATOR),
        RoleMessage(Role.VALIDATOR, "for another", Role.EDITOR),
    ),
)
REQUEST = ItemRequest(Run("r1", "goal", ("make test",)), Task("a", "title", checks=("true",)), ITEM, "/root", (REGION,))


def test_a_request_has_what_the_role_needs_and_the_messages_to_it() -> None:
    shape = json.loads(item_request(Role.EDITOR, REQUEST))
    assert shape["regions"] == [{"key": "file:a.py#f", "hash": REGION.hash, "text": REGION.text}]
    assert shape["refusal"]["answer"] == {"code": "REGION_CHANGED"}
    assert shape["messages"] == [{"by": "validator", "text": "keep the name"}]
    assert shape["checks"] == ["true", "make test"]


@pytest.mark.parametrize("key", ["a.py#f", "file:a.py#f"])
def test_an_edit_without_a_base_is_based_on_the_text_of_the_request(key: str) -> None:
    edit = {"op": "replace", "key": key, "text": "def f(): pass\n"}
    other = {"op": "replace", "key": "b.py#g", "base": "0123456789abcdef", "text": ""}
    answer = edited(json.dumps({"changeset": {"edits": [edit, other]}, "usage": {"tokens_in": 3}}).encode(), REQUEST)
    assert isinstance(answer, Edited)
    assert answer.changeset is not None
    assert [each.base for each in answer.changeset.edits] == [REGION.hash, "0123456789abcdef"]
    assert answer.usage == TokenUsage(3)


def test_the_answers_of_all_roles_are_read() -> None:
    message = {"to": "editor", "text": "mind\nthe cents"}
    assert verdict(json.dumps({"passed": False, "why": "x", "messages": [message]}).encode()) == Verdict(
        passed=False, why="x", messages=(RoleMessage(Role.EDITOR, "mind the cents", Role.VALIDATOR),)
    )
    locks = {"locking": "serial", "keys": ["file:a.py"], "why": "alone"}
    alone = LockPlan(Locking.SERIAL, ("file:a.py",), "alone")
    assert replanned(json.dumps({"locks": locks}).encode()) == Replanned(alone, "alone")
    assert replanned(b'{"give_up": "no way"}') == Replanned(None, "no way")
    found = planned(b'{"tasks": [{"title": "t"}], "usage": {"tokens_out": 2}}', 0.0)
    assert isinstance(found, Planned)
    assert found.usage == TokenUsage(0, 2)


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (b"Sure! Here it is:", "it did not print JSON"),
        (b"[]", "it printed JSON that is no object"),
        (b"{}", "it printed neither"),
        (b'{"fail": "too hard"}', "too hard"),
        (b'{"changeset": {"edit": []}}', "the changeset cannot be read"),
        (b'{"changeset": {"edits": []}, "messages": [{"to": "boss", "text": "x"}]}', "its messages are no list"),
        (b'{"changeset": {"edits": []}, "messages": 7}', "its messages are no list"),
        (b"[" * 100_000, "it did not print JSON"),
    ],
)
def test_an_answer_that_cannot_be_used_says_why(printed: bytes, why: str) -> None:
    answer = edited(printed, REQUEST)
    assert isinstance(answer, RoleFailed)
    assert why in answer.why


@pytest.mark.parametrize(
    "answer",
    [
        replanned(b"{}"),
        replanned(b'{"locks": {"locking": "hopeful"}}'),
        verdict(b'{"passed": "yes"}'),
        planned(b"[", 0.0),
        planned(b'{"tasks": [{"titel": "x"}]}', 0.0),
    ],
)
def test_other_roles_fail_likewise(answer: object) -> None:
    assert isinstance(answer, RoleFailed)
    assert answer.why


def test_a_reason_is_one_line_and_a_long_one_keeps_both_ends() -> None:
    assert one_line("a\n\tb\x1b[0m") == "a b [0m"
    long = one_line("begin " + "x" * 5000 + " end")
    assert len(long) < 2000
    assert (long[:5], long[-3:]) == ("begin", "end")
