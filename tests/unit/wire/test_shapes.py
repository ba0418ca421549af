"""The JSON of every answer: the names that SYSTEM §8 promises are there."""

import json

from commonhold.app.answers import (
    AcquireAnswer,
    CommitAnswer,
    LeaseAnswer,
    Needed,
    Next,
    RegionHash,
    Repair,
    RepairRegion,
)
from commonhold.app.queries import Change, Status, Who
from commonhold.app.reading import Piece, RegionText
from commonhold.domain.clock import Deadline
from commonhold.domain.errors import Code, StoreError
from commonhold.domain.events import Debt, LeaseGranted, Recorded
from commonhold.domain.keys import Kind
from commonhold.domain.lease import Conflict, Lease
from commonhold.domain.modes import Mode
from commonhold.domain.refusal import Refusal
from commonhold.regions.discover import discover
from commonhold.wire import shapes, text

LEASE = Lease("l1", 7, "one", "mend", ("file:a.py",), Mode.SHARED, "acq", 0.0, Deadline("b", 9.0, 1.5))
LEASE_SHAPE = {
    "id": "l1",
    "fence": 7,
    "holder": "one",
    "task": "mend",
    "keys": ["file:a.py"],
    "mode": "shared",
    "acquisition_id": "acq",
    "granted_at": "1970-01-01T00:00:00.000Z",
    "expires_at": "1970-01-01T00:00:01.500Z",
}
CONFLICT = Conflict("file:a.py#f", "file:a.py", "one", "mend", Mode.EXCLUSIVE, 60.0)
CONFLICT_SHAPE = {
    "key": "file:a.py#f",
    "with": "file:a.py",
    "holder": "one",
    "task": "mend",
    "intent": "mend",
    "mode": "exclusive",
    "expires_at": "1970-01-01T00:01:00.000Z",
}
NEXT = Next("acquire", {"keys": ["a"]}, "why")
NEXT_SHAPE = {"call": "acquire", "arguments": {"keys": ["a"]}, "why": "why"}


def as_json(shape: text.Json) -> text.Json:
    read: text.Json = json.loads(text.dumps(shape))
    return read


def test_acquire() -> None:
    granted = shapes.acquire(AcquireAnswer("granted", LEASE, regions=(RegionHash("k", None),), notices=("n",)))
    assert granted == {
        "outcome": "granted",
        "lease": LEASE_SHAPE,
        "position": None,
        "conflicts": [],
        "regions": [{"key": "k", "hash": None}],
        "notices": ["n"],
        "next": None,
    }
    denied = shapes.acquire(AcquireAnswer("denied", conflicts=(CONFLICT,), next=NEXT))
    assert (denied["lease"], denied["conflicts"], denied["next"]) == (None, [CONFLICT_SHAPE], NEXT_SHAPE)


def test_renew_and_release() -> None:
    assert shapes.lease_change(LeaseAnswer("renewed", LEASE))["lease"] == LEASE_SHAPE
    assert shapes.lease_change(LeaseAnswer("refused", None, Refusal.NOT_HOLDER, "why", NEXT)) == {
        "outcome": "refused",
        "code": "NOT_HOLDER",
        "why": "why",
        "lease": None,
        "next": NEXT_SHAPE,
    }


def test_commit() -> None:
    answer = CommitAnswer(
        "refused",
        Refusal.REGION_CHANGED,
        "why",
        required=(Needed("k", "w", "a.py:1"),),
        conflicts=(CONFLICT,),
        repair=Repair((RepairRegion("k", "h", "text", "two", "intent", "diff"),)),
        next=NEXT,
    )
    assert shapes.commit(answer) == {
        "outcome": "refused",
        "code": "REGION_CHANGED",
        "why": "why",
        "regions": [],
        "notices": [],
        "required": [{"key": "k", "why": "w", "where": "a.py:1"}],
        "conflicts": [CONFLICT_SHAPE],
        "repair": {
            "regions": [
                {
                    "key": "k",
                    "hash": "h",
                    "text": "text",
                    "changed_by": "two",
                    "intent": "intent",
                    "diff": "diff",
                    "span": None,
                }
            ]
        },
        "next": NEXT_SHAPE,
        "sequence": None,
        "dry_run": False,
    }


def test_regions() -> None:
    found = shapes.regions(discover(b"import os\nclass C:\n    def m(self): pass\n", "a.py"))
    assert list(found) == ["path", "language", "regions", "problems"]
    assert list(found["regions"][0]) == ["key", "id", "kind", "parent", "spans", "hash"]
    assert [(each["id"], each["parent"]) for each in found["regions"]] == [
        ("file::a.py::", None),
        ("shared_header::a.py::@header", "file:a.py"),
        ("class::a.py::C", "file:a.py"),
        ("class_header::a.py::C.@header", "file:a.py#C"),
        ("method::a.py::C.m", "file:a.py#C"),
    ]
    broken = shapes.regions(discover(b"def f(:\n", "a.py"))
    assert list(broken["problems"][0]) == ["code", "message", "span"]


def test_region_text_shows_data_and_pieces_only_where_there_are_any() -> None:
    text = shapes.region_text(RegionText("k", "i", Kind.FILE, "h", "t"))
    assert text == {"key": "k", "id": "i", "kind": "file", "hash": "h", "text": "t"}
    data = shapes.region_text(RegionText("k", "i", Kind.FILE, "h", None, "AA=="))
    assert (data["text"], data["data"]) == (None, "AA==")
    header = shapes.region_text(RegionText("k", "i", Kind.SHARED_HEADER, "h", "t", None, (Piece(0, "p", "t"),)))
    assert as_json(header)["pieces"] == [{"span": 0, "hash": "p", "text": "t"}]


def test_who_and_status() -> None:
    change, debt = Change(3, 1.5, "two", "intent", ("k",)), Debt("k", "one", "why", "/w")
    who = as_json(shapes.who(Who("k", (LEASE,), (change,), (debt,))))
    status = as_json(shapes.status(Status("/w", (LEASE,), (change,), (debt,))))
    assert (who.pop("key"), status.pop("root")) == ("k", "/w")
    assert who == status
    assert who == {
        "leases": [LEASE_SHAPE],
        "changes": [
            {"sequence": 3, "at": "1970-01-01T00:00:01.500Z", "holder": "two", "intent": "intent", "keys": ["k"]}
        ],
        "debts": [{"key": "k", "holder": "one", "why": "why", "worktree": "/w"}],
    }
    assert shapes.leases([LEASE]) == {"leases": [LEASE_SHAPE]}


def test_log() -> None:
    (event,) = shapes.log([Recorded(7, 1.5, LeaseGranted(LEASE))])["events"]
    assert (event["sequence"], event["at"], event["kind"]) == (7, "1970-01-01T00:00:01.500Z", "lease_granted")
    assert event["event"]["lease"]["fence"] == 7


def test_error() -> None:
    fault = StoreError(Code.STORE_BUSY, "busy", hint="wait", retry_after_seconds=1.0, fields={"path": "a"})
    assert text.error(fault) == {
        "code": "STORE_BUSY",
        "message": "busy",
        "hint": "wait",
        "retryable": True,
        "retry_after_seconds": 1.0,
        "fields": {"path": "a"},
    }


def test_shapes_are_json() -> None:
    shape = {"a": [1, {"b": None}]}
    assert json.loads(text.dumps(shape)) == json.loads(text.dumps(shape, indent=0)) == shape
    assert "\n" in text.dumps(shape)
    assert "\n" not in text.dumps(shape, indent=0)
