"""The JSON of every answer: the names that SYSTEM §8 promises are there."""

import json
from dataclasses import replace

from commonhold.api.wire import event_shapes, shapes, text
from commonhold.code.regions.discover import discover
from commonhold.commits.external.lost_files import LostFile
from commonhold.kernel.answers import (
    AcquireAnswer,
    AdoptAnswer,
    CommitAnswer,
    LeaseAnswer,
    MergedRegion,
    Next,
    NoteQuote,
    Obstacle,
    Piece,
    PutAnswer,
    RegionHash,
    RegionText,
    Repair,
    RepairRegion,
    RequiredEdit,
    ReviewAnswer,
    Unmerged,
    WaiveAnswer,
)
from commonhold.kernel.clock import Deadline
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import LeaseGranted, Recorded
from commonhold.kernel.keys import Kind
from commonhold.kernel.lease import Conflict, Lease, Waiter, Wish
from commonhold.kernel.modes import Mode
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
from commonhold.kernel.pictures import Change, Status, Who
from commonhold.kernel.presence import Presence
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value
from commonhold.kernel.write_slots import slot_of

LEASE = Lease("l1", 7, "one", "mend", ("file:a.py",), Mode.SHARED, "acq", 0.0, Deadline("b", 9.0, 1.5))
LEASE_SHAPE = {
    "id": "l1",
    "fence": 7,
    "holder": "one",
    "task": "mend",
    "keys": ["file:a.py"],
    "writing": False,
    "mode": "shared",
    "acquisition_id": "acq",
    "granted_at": "1970-01-01T00:00:00.000Z",
    "expires_at": "1970-01-01T00:00:01.500Z",
    "ttl_seconds": 1800.0,
    "slots": None,
    "slot": None,
    "once": False,
    "claimed": True,
    "wish": None,
}
WAITER = Waiter(
    "l2", 8, "two", "mend", ("file:a.py",), Mode.EXCLUSIVE, "acq", 0.0, Deadline("b", 9.0, 1.5), 30, 60, "l1"
)
WAITER_SHAPE = {
    "ticket": "l2",
    "holder": "two",
    "task": "mend",
    "keys": ["file:a.py"],
    "writing": False,
    "mode": "exclusive",
    "queued_at": "1970-01-01T00:00:00.000Z",
    "expires_at": "1970-01-01T00:00:01.500Z",
    "replaces": "l1",
}
WORK = PartialWork("l1", "one", "mend", "/w", (UnfinishedChange("file:a.py", "old", None),), 1.5)
DEBT_SHAPE = {
    "key": "k",
    "holder": "one",
    "why": "why",
    "worktree": "/w",
    "since": [7],
    "evidence": "contract",
}
WORK_SHAPE = {
    "lease_id": "l1",
    "holder": "one",
    "task": "mend",
    "worktree": "/w",
    "found_at": "1970-01-01T00:00:01.500Z",
    "changes": [{"key": "file:a.py", "base": "old", "now": None}],
}
VALUE = Value("account:1", 7, "open", "one", 1.5)
VALUE_SHAPE = {"key": "account:1", "version": 7, "text": "open", "holder": "one", "at": "1970-01-01T00:00:01.500Z"}
CHANGE = Change(3, 1.5, "two", "intent", ("k",))
CHANGE_SHAPE = {"sequence": 3, "at": "1970-01-01T00:00:01.500Z", "holder": "two", "intent": "intent", "keys": ["k"]}
CONFLICT = Conflict("file:a.py#f", "file:a.py", "one", "mend", Mode.EXCLUSIVE, 60.0)
CONFLICT_SHAPE = {
    "key": "file:a.py#f",
    "with": "file:a.py",
    "writing": False,
    "holder": "one",
    "task": "mend",
    "intent": "mend",
    "mode": "exclusive",
    "expires_at": "1970-01-01T00:01:00.000Z",
    "waiting": False,
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
        "code": None,
        "lease": LEASE_SHAPE,
        "ticket": None,
        "position": None,
        "estimated_wait_seconds": None,
        "conflicts": [],
        "regions": [{"key": "k", "hash": None}],
        "changed": [],
        "values": [],
        "result": None,
        "context": [],
        "notices": ["n"],
        "next": None,
    }
    quote = NoteQuote("a.md#1", "T", "it mentions k", "text", is_cut=True)
    denied = shapes.acquire(AcquireAnswer("denied", context=(quote,)))
    assert denied["context"] == [
        {"section": "a.md#1", "title": "T", "why": "it mentions k", "text": "text", "cut": True}
    ]
    done = shapes.acquire(AcquireAnswer("done", result=VALUE))
    assert (done["outcome"], done["result"]) == ("done", VALUE_SHAPE)
    denied = shapes.acquire(AcquireAnswer("denied", conflicts=(CONFLICT,), next=NEXT, code=Refusal.DEADLOCK))
    assert (denied["code"], denied["conflicts"], denied["next"]) == ("DEADLOCK", [CONFLICT_SHAPE], NEXT_SHAPE)


def test_waiting_and_having_waited() -> None:
    queued = shapes.acquire(AcquireAnswer("queued", ticket="l2", position=2, estimated_wait_seconds=60.0))
    assert (queued["ticket"], queued["position"], queued["estimated_wait_seconds"]) == ("l2", 2, 60.0)
    woken = as_json(shapes.acquire(AcquireAnswer("granted", LEASE, changed=(CHANGE,), values=(VALUE,))))
    assert (woken["changed"], woken["values"]) == ([CHANGE_SHAPE], [VALUE_SHAPE])


def test_a_write_slot_is_shown_as_the_file_that_is_just_being_written() -> None:
    slot = str(slot_of("/r", "src/a#1.py"))
    shown = {"keys": ["file:src/a%231.py"], "writing": True}
    lease, waiter = replace(LEASE, keys=(slot,)), replace(WAITER, keys=(slot,))
    assert shapes.leases([lease], [waiter]) == {"leases": [LEASE_SHAPE | shown], "waiters": [WAITER_SHAPE | shown]}
    held = {"key": "file:src/a%231.py", "with": "file:src/a%231.py", "writing": True}
    assert shapes.conflict(replace(CONFLICT, key=slot, held=slot)) == CONFLICT_SHAPE | held


def test_what_is_done_to_a_lease() -> None:
    wished = replace(LEASE, is_claimed=False, wish=Wish("two", "I wait"))
    shape = shapes.lease_change(LeaseAnswer("renewed", wished, notices=("n",)))
    assert shape["lease"] == LEASE_SHAPE | {"claimed": False, "wish": {"by": "two", "why": "I wait"}}
    assert shape["notices"] == ["n"]
    assert shapes.lease_change(LeaseAnswer("refused", None, Refusal.NOT_HOLDER, "why", NEXT, (CONFLICT,))) == {
        "outcome": "refused",
        "code": "NOT_HOLDER",
        "why": "why",
        "lease": None,
        "conflicts": [CONFLICT_SHAPE],
        "notices": [],
        "next": NEXT_SHAPE,
    }


def test_values() -> None:
    nothing = {"key": "account:2", "version": 0, "text": None, "holder": "", "at": None}
    assert shapes.values([VALUE, Value("account:2")]) == {"values": [VALUE_SHAPE, nothing]}
    refused = PutAnswer("refused", None, Refusal.VERSION_CHANGED, "why", (VALUE,), (CONFLICT,), NEXT)
    assert shapes.put(refused) == {
        "outcome": "refused",
        "code": "VERSION_CHANGED",
        "why": "why",
        "value": None,
        "current": [VALUE_SHAPE],
        "conflicts": [CONFLICT_SHAPE],
        "next": NEXT_SHAPE,
    }
    assert shapes.put(PutAnswer("stored", VALUE))["value"] == VALUE_SHAPE


def test_partial_work() -> None:
    assert shapes.works([WORK]) == {"works": [WORK_SHAPE]}
    assert shapes.review(ReviewAnswer("reviewed", WORK))["work"] == WORK_SHAPE
    refused = shapes.review(ReviewAnswer("refused", None, "why", NEXT))
    assert refused == {"outcome": "refused", "why": "why", "work": None, "next": NEXT_SHAPE}


def test_commit() -> None:
    answer = CommitAnswer(
        "refused",
        Refusal.REGION_CHANGED,
        "why",
        required=(RequiredEdit("k", "w", "a.py:1"),),
        conflicts=(CONFLICT,),
        repair=Repair(
            (RepairRegion("k", "h", "text", "two", "intent", "diff"),),
            (Unmerged("k", (Obstacle("BOTH_CHANGED", "why"),), "marked"),),
        ),
        next=NEXT,
        current=(VALUE,),
    )
    assert shapes.commit(answer) == {
        "outcome": "refused",
        "code": "REGION_CHANGED",
        "why": "why",
        "regions": [],
        "notices": [],
        "required": [{"key": "k", "why": "w", "where": "a.py:1"}],
        "conflicts": [CONFLICT_SHAPE],
        "merged": [],
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
            ],
            "unmerged": [{"key": "k", "obstacles": ({"reason": "BOTH_CHANGED", "why": "why"},), "marked": "marked"}],
        },
        "current": [VALUE_SHAPE],
        "context": [],
        "next": NEXT_SHAPE,
        "sequence": None,
        "dry_run": False,
    }


def test_a_merged_commit() -> None:
    merged = MergedRegion("k", "h", "text", "two", "intent", ("joined",), "diff", 1)
    shape = shapes.commit(CommitAnswer("merged", regions=(RegionHash("k", "h"),), merged=(merged,), sequence=3))
    assert shape["outcome"] == "merged"
    assert shape["merged"] == [
        {
            "key": "k",
            "hash": "h",
            "span": 1,
            "text": "text",
            "diff": "diff",
            "with": {"changed_by": "two", "intent": "intent"},
            "notes": ["joined"],
        }
    ]


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
    debt = Debt("k", "one", "why", "/w", (7,), "contract")
    who = as_json(shapes.who(Who("k", (LEASE,), (CHANGE,), (debt,), (WAITER,))))
    agent = Presence("claude:1", "/w", "mend it", "7:1", 0.0, 60.0)
    status = as_json(shapes.status(Status("/w", (LEASE,), (CHANGE,), (debt,), (WAITER,), (WORK,), (agent,))))
    assert status.pop("sessions") == [
        {
            "holder": "claude:1",
            "intent": "mend it",
            "began_at": "1970-01-01T00:00:00.000Z",
            "seen_at": "1970-01-01T00:01:00.000Z",
            "at_rest": False,
        }
    ]
    assert (who.pop("key"), status.pop("root"), status.pop("works")) == ("k", "/w", [WORK_SHAPE])
    assert who == status
    assert who == {
        "leases": [LEASE_SHAPE],
        "waiters": [WAITER_SHAPE],
        "changes": [CHANGE_SHAPE],
        "debts": [DEBT_SHAPE],
    }
    lost = [LostFile("a.py", "hash", "one", "mend", 60.0)]
    assert as_json(shapes.to_review(Status("/w", (), (), (debt,), (), (WORK,)), lost)) == {
        "works": [WORK_SHAPE],
        "debts": [DEBT_SHAPE],
        "lost": [
            {
                "path": "a.py",
                "hash": "hash",
                "holder": "one",
                "intent": "mend",
                "lost_at": "1970-01-01T00:01:00.000Z",
            }
        ],
    }
    adopted = as_json(shapes.adopted(AdoptAnswer("adopted", ("a.py",), "bob")))
    assert adopted == {"outcome": "adopted", "why": "", "paths": ["a.py"], "owner": "bob", "next": None}
    waived = as_json(shapes.waived(WaiveAnswer("waived", (debt,))))
    assert waived == {"outcome": "waived", "why": "", "debts": [DEBT_SHAPE], "next": None}
    assert shapes.leases([LEASE], [WAITER]) == {"leases": [LEASE_SHAPE], "waiters": [WAITER_SHAPE]}


def test_log() -> None:
    (event,) = event_shapes.log([Recorded(7, 1.5, LeaseGranted(LEASE))])["events"]
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
