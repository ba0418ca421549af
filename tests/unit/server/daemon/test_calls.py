"""Calls as they go over a socket: whatever the service takes and gives comes through unchanged."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commonhold.api.wire import calls
from commonhold.kernel.answers import AcquireAnswer, News, Next
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op, Read
from commonhold.kernel.errors import Code, CommonholdError, InputError, InternalError, StoreError, UsageError
from commonhold.kernel.events import LeaseReleased, Recorded, ValuePut
from commonhold.kernel.modes import Mode
from commonhold.kernel.task import Task
from commonhold.kernel.values import Value, Version

EDIT = Edit(Op.REPLACE, "a.py#f", "0" * 64, "x\n", mode="755", span=1, data=b"\0\xff")
CHANGESET = Changeset((EDIT,), "intent", "r1", (LeaseRef("lease-1", 7),), (Read("a.py#g", "1" * 64),))
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("acquire", ("a:1", "b.py"), {"task": "t", "ttl_seconds": 5.0, "mode": Mode.SHARED, "hold_seconds": None}),
    ("put", ("a:1", None), {"expected_version": 3, "fence": None, "reads": [Version("a:2", 1)]}),
    ("commit", (CHANGESET,), {"dry_run": True}),
    ("renew", ("lease-1",), {"ttl_seconds": 2.5, "request_id": "r1"}),
    ("log", (), {"after": 0, "limit": 5, "lease_id": "lease-1"}),
    ("content", ("00ff",), {}),
    ("sweep", (), {}),
    ("record_read", ("a.py", "a.py#f"), {}),
    ("last_read", ("a.py", "a.py#f"), {}),
    ("news", (), {}),
    ("plan_run", ("r1", Task("a", "title"), Task("b", "title")), {"fence": 7}),
]


def sent(number: int, name: str, arguments: tuple[object, ...], named: dict[str, Any]) -> calls.Request:
    frame = calls.encode_request(number, name, arguments, named)
    assert calls.LENGTH.unpack_from(frame)[0] == len(frame) - calls.LENGTH.size
    return calls.decode_request(frame[calls.LENGTH.size :])


@pytest.mark.parametrize(("name", "arguments", "named"), CALLS)
def test_a_call_is_made_as_it_was_meant(name: str, arguments: tuple[object, ...], named: dict[str, object]) -> None:
    request = sent(5, name, arguments, named)
    method = calls.method(request.method)
    rest, others = method.arguments(request.parameters)
    meant = named if method.rest else dict(zip(method.fields, arguments, strict=False)) | named
    assert request.number == 5
    assert tuple(rest) == (arguments if method.rest else ())
    assert others == meant


def test_a_changeset_that_comes_over_is_the_very_same() -> None:
    """A repeated commit is known by what its parts are: also when it is repeated the other way."""
    request = sent(1, "commit", (CHANGESET,), {})
    _, named = calls.method("commit").arguments(request.parameters)
    assert repr(named["changeset"]) == repr(CHANGESET)


@pytest.mark.parametrize(
    "answer",
    [
        Value("a:1", 3, None, "ann", 1.5),
        AcquireAnswer("denied", next=Next("acquire", {"keys": ["a:1"], "wait_seconds": 1.5}, "why")),
        None,
        (News("file:a.py#f", "text", "ben", "why", 7, "0" * 64, None, "-a", is_contract=True),),
    ],
    ids=["a value", "a denial", "nothing", "news"],
)
def test_an_answer_comes_back_as_it_was_given(answer: object) -> None:
    name = {Value: "get", AcquireAnswer: "acquire", type(None): "sweep", tuple: "news"}[type(answer)]
    reply = calls.decode_reply(calls.encode_answer(9, answer)[calls.LENGTH.size :])
    assert (reply.number, reply.kind) == (9, "answer")
    assert calls.method(name).answer(reply.body) == answer


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_log_comes_back_event_by_event(size: int) -> None:
    log = (Recorded(1, 0.5, ValuePut("ann", "a:1", None)), Recorded(2, 0.75, LeaseReleased("ann", "lease-1")))[:size]
    reply = calls.decode_reply(calls.encode_answer(1, log)[calls.LENGTH.size :])
    assert calls.method("log").answer(reply.body) == log


@pytest.mark.parametrize("family", [UsageError, InputError, StoreError, InternalError])
def test_an_error_comes_back_with_all_its_parts(family: type[CommonholdError]) -> None:
    fields = {"path": "a.py", "count": 3, "code": Code.USAGE, "where": Path("/a")}
    fault = family(Code.DISK_FULL, "message", hint="hint", retry_after_seconds=2.5, fields=fields)
    reply = calls.decode_reply(calls.encode_fault(1, fault)[calls.LENGTH.size :])
    back = calls.decode_fault(reply.body)
    assert type(back) is family
    assert (back.code, back.message, back.hint, back.retry_after_seconds) == (Code.DISK_FULL, "message", "hint", 2.5)
    assert back.fields == {"path": "a.py", "count": 3, "code": "USAGE", "where": "/a"}
    assert back.retryable


def test_who_comes_and_who_welcomes_introduce_themselves() -> None:
    hello = calls.Hello(calls.PROTOCOL, "1", "/repository", None, 0o022)
    request = calls.decode_request(calls.encode_hello(hello)[calls.LENGTH.size :])
    assert (request.number, request.method) == (0, calls.HELLO)
    assert calls.decode_hello(request.parameters) == hello
    reply = calls.decode_reply(calls.encode_answer(0, calls.Welcome("1", 7))[calls.LENGTH.size :])
    assert msgspec.msgpack.decode(reply.body, type=calls.Welcome) == calls.Welcome("1", 7)


@pytest.mark.parametrize("name", ["close", "__init__", "_agent", "holder", "nothing", ""])
def test_only_the_calls_of_the_service_can_be_made(name: str) -> None:
    with pytest.raises(KeyError):
        calls.method(name)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("acquire", {"keys": ["a:1"], "mode": "none"}),
        ("acquire", {"keys": [3]}),
        ("acquire", {"keys": ["a:1"], "more": 1}),
        ("renew", {}),
        ("put", {"key": "a:1", "expected_version": 0}),
        ("put", {"key": "a:1", "text": "x", "expected_version": "0"}),
        ("commit", {"changeset": {"edits": [{"op": "none"}]}}),
        ("commit", {"changeset": None}),
    ],
)
def test_arguments_that_do_not_fit_are_unreadable(name: str, parameters: dict[str, object]) -> None:
    with pytest.raises(calls.UNREADABLE):
        calls.method(name).arguments(msgspec.Raw(msgspec.msgpack.encode(parameters)))


def test_a_text_that_is_no_utf8_is_not_sent() -> None:
    for changeset in (replace(CHANGESET, intent="\udcff"), Changeset((replace(EDIT, text="\ud800"),))):
        with pytest.raises(InputError) as caught:
            calls.encode_request(1, "commit", (changeset,), {})
        assert caught.value.code is Code.TEXT_INVALID


def test_whatever_comes_is_a_request_or_unreadable() -> None:
    chance = random.Random(7)
    whole = [calls.encode_request(1, name, arguments, named)[4:] for name, arguments, named in CALLS]
    for _ in range(20_000):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        read_if_possible(bytes(data))
    for nested in (b"\x93\x01\xa4show" + b"\x91" * 100_000, b"\x93\x01\xa3put\x81\xa4text" + b"\x91" * 100_000):
        read_if_possible(nested)


def read_if_possible(data: bytes) -> None:
    try:
        request = calls.decode_request(data)
        calls.method(request.method).arguments(request.parameters)
    except (KeyError, *calls.UNREADABLE):
        pass


def test_the_types_of_every_method_are_found() -> None:
    assert {calls.method(name).name for name in calls.NAMES} == calls.NAMES
