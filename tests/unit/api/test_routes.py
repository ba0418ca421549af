"""Each operation has one route, whose path names its parameters; requests and answers survive the way over HTTP."""

import inspect
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from typing import Any, get_args

import msgspec
import pytest

from commonhold import Changeset, Code, CommonholdError, Edit, Lease, Mode, Op, PartialWork, Recorded
from commonhold.api.routes import PREFIX, ROUTES, match
from commonhold.api.service import OPERATIONS, Service
from commonhold.api.wire import calls, http_calls
from commonhold.api.wire.http_calls import Page
from commonhold.commits.key_version import KeyVersion
from commonhold.kernel.answers import AcquireAnswer, RegionText
from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import LeaseReleased
from commonhold.kernel.keys import Kind
from commonhold.kernel.scopes import Scope
from commonhold.kernel.values import Value

NEVER = Deadline("boot", 1e9, 1e9)


def test_every_operation_of_the_sdk_has_a_route_of_its_own() -> None:
    assert ROUTES.keys() == {name for name, each in OPERATIONS.items() if each.in_sdk}
    counts = Counter((each.method, each.path.replace("{", "").replace("}", "")) for each in ROUTES.values())
    assert [place for place, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("name", ROUTES)
def test_a_path_names_parameters_of_its_operation(name: str) -> None:
    known = set(inspect.signature(getattr(Service, name)).parameters) - {"self"}
    assert set(ROUTES[name].parameters) <= known


def test_calls_that_change_the_state_are_no_gets() -> None:
    looks = {name for name, each in ROUTES.items() if each.method == "GET"}
    changing = {
        "acquire",
        "release",
        "commit",
        "put",
        "record_read",
        "news",
        "send",
        "sweep",
        "break_lease",
        "change_task",
    }
    assert not looks & changing
    assert all(ROUTES[name].scope is Scope.OBSERVER for name in looks)


def test_a_path_is_matched_as_it_was_sent() -> None:
    found = match("GET", f"{PREFIX}/values/x%3Aa%2Fb")
    assert (found.route, found.values) == (ROUTES["get"], {"key": "x:a/b"})
    assert match("DELETE", f"{PREFIX}/values/x%3Aa").allowed == ("GET", "PUT")
    assert match("GET", f"{PREFIX}/values/a/b").route is None
    assert match("GET", f"{PREFIX}/nothing").allowed == ()


REQUESTS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("acquire", ("a.py#one", "x:1"), {"mode": Mode.SHARED, "ttl_seconds": 5.0, "once": True}),
    ("commit", (Changeset((Edit(Op.CREATE_FILE, "b.py", text="x = 1\n"),), "why"),), {"dry_run": True}),
    ("read", ("a b.py", "ü.py#one"), {}),
    ("tasks", (), {"all_states": True}),
    ("put", ("x:a/b", None), {"expected_version": 3}),
    ("log", (), {"after": 7, "limit": 2, "lease_id": None}),
    ("store_contents", ([b"\x00\xff"],), {}),
    ("content", ("ab12",), {}),
    ("status", (), {}),
]


@pytest.mark.parametrize(("name", "arguments", "named"), REQUESTS, ids=[name for name, *_ in REQUESTS])
def test_a_request_is_read_as_the_call_that_was_made(
    name: str, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    asked = http_calls.asked(ROUTES[name], arguments, named)
    found = match(asked.method, asked.path)
    assert found.route is ROUTES[name]
    read = http_calls.read(found.route, found.values, asked.query, asked.body)
    bound = inspect.signature(getattr(Service, name)).bind(None, *read.arguments, **read.named)
    expected = inspect.signature(getattr(Service, name)).bind(None, *arguments, **named)
    bound.apply_defaults()
    expected.apply_defaults()
    assert {name: _plain(each) for name, each in bound.arguments.items()} == {
        name: _plain(each) for name, each in expected.arguments.items()
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("name", "query", "body"),
    [
        ("leases", "holder=a&holder=b", b""),
        ("leases", "limit=0", b""),
        ("leases", "limit=1001", b""),
        ("leases", "limit=ten", b""),
        ("leases", "colour=red", b""),
        ("leases", "holder", b""),
        ("leases", "holder=%ff", b""),
        ("log", "after=1&cursor=2", b""),
        ("log", "after=x", b""),
        ("acquire", "keys=a", b""),
        ("acquire", "", b"[]"),
        ("acquire", "", b"{"),
        ("acquire", "", b"[" * 100_000),
        ("acquire", "", b'{"keys": "a.py"}'),
        ("acquire", "", b'{"keys": ["a.py"], "mode": "none"}'),
        ("acquire", "", b'{"keys": ["a.py"], "colour": 1}'),
        ("renew", "", b'{"lease_id": "twice"}'),
        ("commit", "", b'{"changeset": {"intent": 1}}'),
    ],
)
def test_a_request_that_does_not_fit_is_an_error(name: str, query: str, body: bytes) -> None:
    values = dict.fromkeys(ROUTES[name].parameters, "v")
    with pytest.raises(CommonholdError) as fault:
        http_calls.read(ROUTES[name], values, query, body)
    assert fault.value.code in (Code.USAGE, Code.CHANGESET_INVALID)


@pytest.mark.parametrize(
    ("name", "query", "words"),
    [
        ("leases", "limit=-1", "limit is not a whole number from 0 on: '-1'"),
        ("leases", "limit=0", "limit is a whole number from 1 to"),
        ("log", "cursor=x", "cursor is not a whole number from 0 on: 'x'"),
    ],
)
def test_the_error_names_the_parameter_that_was_given(name: str, query: str, words: str) -> None:
    with pytest.raises(CommonholdError) as fault:
        http_calls.read(ROUTES[name], {}, query, b"")
    assert words in fault.value.message


def test_an_unknown_field_of_a_changeset_is_an_error() -> None:
    with pytest.raises(CommonholdError) as fault:
        http_calls.read(ROUTES["commit"], {}, "", b'{"changeset": {"intent": "x", "edits": [], "edit": []}}')
    assert fault.value.code is Code.CHANGESET_INVALID


@pytest.mark.parametrize(("name", "body"), [("put", b'{"text": "v", "expected_version": 0}'), ("ask", b'{"why": "w"}')])
def test_an_idempotency_key_names_the_request(name: str, body: bytes) -> None:
    values = dict.fromkeys(ROUTES[name].parameters, "v")
    assert http_calls.read(ROUTES[name], values, "", body, "k1").named["request_id"] == "k1"


def test_an_idempotency_key_names_a_changeset_that_has_no_name() -> None:
    for given, expected in (("", "k1"), (', "request_id": "own"', "own")):
        body = b'{"changeset": {"intent": "x", "edits": []%s}}' % given.encode()
        read = http_calls.read(ROUTES["commit"], {}, "", body, "k1")
        assert read.named["changeset"].request_id == expected


def test_a_get_that_asks_for_too_much_is_refused_before_it_is_sent() -> None:
    keys = [f"folder/file_{number}.py" for number in range(3_000)]
    with pytest.raises(CommonholdError) as refused:
        http_calls.asked(ROUTES["read"], keys, {})
    assert refused.value.code is Code.REQUEST_TOO_LARGE
    assert http_calls.asked(ROUTES["read"], keys[:1_000], {}).query


def lease(fence: int) -> Lease:
    return Lease(f"l{fence}", fence, "ann", "", ("x:1",), Mode.EXCLUSIVE, "a", 1.0, NEVER)


def shape(name: str, answer: Any, page: Page = Page()) -> Any:  # noqa: B008 - it is frozen
    return msgspec.json.decode(http_calls.answered(ROUTES[name], answer, page).data)


def test_a_list_comes_in_pages_and_each_item_once_though_others_come_and_go() -> None:
    leases = [lease(fence) for fence in range(1, 6)]
    first = shape("leases", tuple(leases), Page(limit=2))
    assert ([each["id"] for each in first["items"]], first["next"]) == (["l1", "l2"], "l2")
    # The first two have ended, another has begun, and one was handed over under a new fence.
    left = (replace(leases[2], fence=11), *leases[3:], lease(9))
    second = shape("leases", left, Page(limit=2, cursor=first["next"]))
    assert ([each["id"] for each in second["items"]], second["next"]) == (["l3", "l4"], "l4")
    last = shape("leases", left, Page(limit=2, cursor="l4"))
    assert ([each["id"] for each in last["items"]], last["next"]) == (["l5", "l9"], None)


def test_every_list_that_comes_in_pages_is_ordered_by_a_field_of_its_items() -> None:
    for name in ROUTES:
        known = calls.described(name)
        order = http_calls.order_of(known)
        assert order is None or order in get_args(known.answer_kind)[0].__dataclass_fields__


def test_the_log_goes_on_after_its_last_event() -> None:
    events = (Recorded(4, 1.0, LeaseReleased("ann", "l1")), Recorded(5, 2.0, LeaseReleased("ben", "l2")))
    found = shape("log", events)
    assert found["next"] == "5"
    assert found["items"][0] == {
        "sequence": 4,
        "at": 1.0,
        "kind": "lease_released",
        "event": {"holder": "ann", "lease_id": "l1"},
    }
    assert shape("log", (), Page(cursor="5")) == {"items": [], "next": "5"}
    assert shape("log", ()) == {"items": [], "next": "0"}
    for query in ("after=20", "cursor=20", "after=20&limit=3"):
        page = http_calls.read(ROUTES["log"], {}, query, b"", "").page
        assert shape("log", (), page) == {"items": [], "next": "20"}


def test_a_secret_in_an_event_is_masked_and_its_form_stays() -> None:
    events = (Recorded(1, 1.0, LeaseReleased('say "token=abc\\" twice', "l1")),)
    body = http_calls.answered(ROUTES["log"], events, Page())
    (shown,) = http_calls.answer_in(ROUTES["log"], "", body.status, body.data)
    assert shown == Recorded(1, 1.0, LeaseReleased('say "token=***" twice', "l1"))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("leases", (lease(1), lease(2))),
        ("partial_works", (PartialWork("l1", "ann", "", "/w", (), 1.0),)),
        ("acquire", AcquireAnswer("queued", ticket="t", position=1)),
        ("read", (RegionText("a.py", "file::a.py", Kind.FILE, "ab", "text"),)),
        ("log", (Recorded(1, 1.0, LeaseReleased("ann", "l1")),)),
        ("content", b"\x00\xff"),
        ("is_at_work", True),
        ("apply_retention", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_read_as_it_was_given(name: str, answer: Any) -> None:
    body = http_calls.answered(ROUTES[name], answer, Page())
    path = f"/api/v1/contents/{sha256(body.data).hexdigest()}"
    assert http_calls.answer_in(ROUTES[name], path, body.status, body.data) == answer


def test_a_refusal_a_place_in_line_and_nothing_have_statuses_of_their_own() -> None:
    statuses = {
        outcome: http_calls.answered(ROUTES["acquire"], AcquireAnswer(outcome), Page()).status
        for outcome in ("granted", "queued", "denied", "done")
    }
    assert statuses == {"granted": 200, "queued": 202, "denied": 409, "done": 200}
    assert http_calls.answered(ROUTES["apply_retention"], None, Page()).status == 204


def test_the_etag_is_the_hash_of_the_content() -> None:
    region = RegionText("a.py", "file::a.py", Kind.FILE, "ab", "text")
    tags = {
        "read": ((region,), "ab"),
        "get": (Value("x:1", 7, "text", "ann", 1.0), "version-7"),
        "content": (b"bytes", sha256(b"bytes").hexdigest()),
    }
    for name, (answer, tag) in tags.items():
        assert http_calls.answered(ROUTES[name], answer, Page()).etag == f'"{tag}"'
    assert not http_calls.answered(ROUTES["acquire"], AcquireAnswer("granted"), Page()).etag
    assert http_calls.answered(ROUTES["content"], b"bytes", Page()).content_type == http_calls.BYTES


def test_the_etag_of_a_version_changes_with_the_file_around_the_region() -> None:
    bodies = [
        http_calls.answered(ROUTES["key_version"], KeyVersion("a.py#one", hash="ab", file_hash=each), Page())
        for each in ("1", "2")
    ]
    assert bodies[0].etag != bodies[1].etag


def test_every_parameter_of_a_call_is_known() -> None:
    assert calls.described("acquire").rest == "keys"
    with pytest.raises(KeyError):
        calls.method("regions")  # it is not offered over the socket
