"""The interface over the network: its channels, its limit of requests under way, and how it refuses."""

import asyncio
import json
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.pictures import Status
from commonhold.kernel.scopes import Scope
from commonhold.server.asgi import App
from commonhold.server.call_counts import CallCounts
from commonhold.server.facts import Facts
from commonhold.server.network import api
from commonhold.server.network import interface as interfaces
from commonhold.server.network.gate import Gate
from commonhold.server.network.interface import Channels, Interface
from commonhold.workspace.tokens import KnownTokens, issue

NOW = 1000.0


class Service:
    """Channels whose calls return once they may; what was called, and how often a channel was opened and closed."""

    def __init__(self) -> None:
        self.may_return = Event()
        self.may_return.set()
        self.called: list[tuple[str, Mapping[str, Any]]] = []
        self.opened: list[str | None] = []
        self.closed = 0
        self.fault: Exception | None = None

    def open(self, agent: str | None) -> "Service":
        self.opened.append(agent)
        return self

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> object:
        assert not arguments
        self.called.append((name, named))
        self.may_return.wait(PATIENCE_SECONDS)
        if self.fault is not None:
            raise self.fault
        return Status("/root", (), (), ())

    def close(self) -> None:
        self.closed += 1


def interface(service: Service, why_not_ready: str = "") -> Interface:
    return Interface(service.open, Facts(lambda: 0, lambda: why_not_ready, dict, CallCounts()))


async def asked(
    app: App, path: str, method: str = "GET", query: bytes = b"", body: bytes = b"", key: str = "", **headers: str
) -> tuple[int, Any, Mapping[str, str]]:
    """The status, the body and the headers of an answer."""
    sent: list[MutableMapping[str, Any]] = []
    unread = [body]
    named = {"host": "127.0.0.1", "idempotency-key": key, **headers}
    pairs = [(name.encode(), value.encode()) for name, value in named.items()]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query}

    async def receive() -> MutableMapping[str, Any]:
        if any(each["type"] == "http.response.body" for each in sent):
            return {"type": "http.disconnect"}
        await asyncio.sleep(0)
        if not unread:  # as from a server: later the client says nothing until it goes
            await asyncio.sleep(PATIENCE_SECONDS)
        return {"type": "http.request", "body": unread.pop()}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app({**scope, "headers": pairs}, receive, send)
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], json.loads(sent[1]["body"] or b"null"), found


@pytest.fixture
def bearer(tmp_path: Path) -> str:
    return f"Bearer {issue(str(tmp_path), Scope.ADMIN, NOW)[1]}"


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(KnownTokens(str(tmp_path)), [], 1e6, lambda: NOW)


def test_a_channel_is_opened_again_every_second_by_the_settings_of_that_time() -> None:
    service, now = Service(), [0.0]
    channels = Channels(service.open, lambda: now[0])
    for moment in (0.0, 0.5, 1.0, 1.1, 2.0, 2.2):
        now[0] = moment
        channels("ann")
    channels(None)
    assert service.opened == ["ann", "ann", "ann", None]


def test_channels_that_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interfaces, "MOST_CHANNELS", 10)
    channels = Channels(Service().open)
    for number in range(100):
        channels(f"agent-{number}")
    assert len(channels._known) <= 10


def test_a_request_leaves_its_channel(gate: Gate, bearer: str) -> None:
    service = Service()
    app = interface(service).behind(gate)
    status, shape, _ = asyncio.run(asked(app, "/api/v1/status", authorization=bearer))
    assert (status, shape["root"], service.called, service.closed) == (200, "/root", [("status", {})], 1)


def test_a_bearer_has_a_limited_number_of_requests_under_way(
    gate: Gate, bearer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interfaces, "MOST_AT_ONCE", 2)

    async def story() -> None:
        service = Service()
        service.may_return.clear()
        app = interface(service).behind(gate)
        under_way = [asyncio.ensure_future(asked(app, "/api/v1/status", authorization=bearer)) for _ in range(2)]
        while len(service.called) < 2:  # noqa: ASYNC110 - they are called in threads
            await asyncio.sleep(0.01)
        status, shape, headers = await asked(app, "/api/v1/status", authorization=bearer)
        assert (status, shape["code"], headers["connection"]) == (429, "RATE_LIMITED", "close")
        service.may_return.set()
        assert [status for status, *_ in await asyncio.gather(*under_way)] == [200, 200]
        assert (await asked(app, "/api/v1/status", authorization=bearer))[0] == 200

    asyncio.run(story())


def test_a_defect_is_an_answer_that_reveals_nothing(gate: Gate, bearer: str) -> None:
    service = Service()
    service.fault = ZeroDivisionError("secret words")
    status, shape, _ = asyncio.run(asked(interface(service).behind(gate), "/api/v1/status", authorization=bearer))
    assert (status, shape["code"], shape["family"]) == (500, "INTERNAL", "InternalError")
    assert "secret" not in json.dumps(shape)


def test_an_error_of_the_service_is_answered_with_its_parts(gate: Gate, bearer: str) -> None:
    service = Service()
    service.fault = UsageError(Code.TTL_INVALID, "no", hint="yes", fields={"ttl_seconds": "0"})
    status, shape, _ = asyncio.run(asked(interface(service).behind(gate), "/api/v1/status", authorization=bearer))
    assert (status, shape["code"], shape["fields"]) == (400, "TTL_INVALID", {"ttl_seconds": "0"})


@pytest.mark.parametrize(
    ("code", "hint", "said"),
    [
        (Code.TASK_UNKNOWN, "see `commonhold task list --all`", "see GET /api/v1/tasks with all_states"),
        (Code.COMMIT_UNKNOWN, "`commonhold log` shows every commit", "GET /api/v1/events shows every commit"),
        (Code.HOLDER_MISSING, "name it: agent=NAME", "name the session in the header x-commonhold-agent"),
        (Code.INTERNAL, "see `commonhold doctor`", "see `commonhold doctor`"),
    ],
)
def test_a_hint_over_http_names_routes_in_place_of_commands(
    code: Code, hint: str, said: str, gate: Gate, bearer: str
) -> None:
    service = Service()
    service.fault = UsageError(code, "no", hint=hint)
    _, shape, _ = asyncio.run(asked(interface(service).behind(gate), "/api/v1/status", authorization=bearer))
    assert shape["hint"] == said


@pytest.mark.parametrize(("why", "status"), [("", 200), ("the database was removed", 503)])
def test_readiness_says_why_not(gate: Gate, why: str, status: int) -> None:
    found, shape, _ = asyncio.run(asked(interface(Service(), why).behind(gate), "/readyz"))
    assert (found, shape.get("message", "")) == (status, why)


def test_the_owner_needs_no_token() -> None:
    status, _, _ = asyncio.run(asked(interface(Service()).private, "/api/v1/status"))
    assert status == 200


def test_a_page_after_the_newest_event_is_refused_as_a_stream_is() -> None:
    class WithLog(Service):
        def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> object:
            super().call(name, arguments, named)
            return ()

    app = interface(WithLog()).private
    for query, status in ((b"after=1", 410), (b"cursor=1", 410), (b"after=0", 200), (b"after=1&lease_id=lease-1", 200)):
        found, body, _ = asyncio.run(asked(app, "/api/v1/events", query=query))
        assert found == status
        assert body.get("code", "") == ("CURSOR_UNKNOWN" if status == 410 else "")


def test_a_request_whose_body_did_not_arrive_whole_is_not_carried_out() -> None:
    service = Service()
    app = interface(service).private
    sent: list[Any] = []

    async def story(*messages: MutableMapping[str, Any]) -> None:
        coming = iter(messages)

        async def receive() -> MutableMapping[str, Any]:
            return next(coming)

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        path = "/api/v1/sweep"
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        await app({**scope, "headers": [(b"content-length", b"9")]}, receive, send)

    gone = {"type": "http.disconnect"}
    asyncio.run(story(gone))
    asyncio.run(story({"type": "http.request", "body": b"{}", "more_body": True}, gone))
    assert (service.called, sent) == ([], [])
    asyncio.run(story({"type": "http.request", "body": b"{}", "more_body": False}))
    assert [name for name, _ in service.called] == ["sweep"]


def test_a_body_that_takes_too_long_gives_up_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "BODY_SECONDS", 0.01)
    service, sent = Service(), list[MutableMapping[str, Any]]()

    async def story() -> None:
        async def receive() -> MutableMapping[str, Any]:
            await asyncio.sleep(PATIENCE_SECONDS)
            raise AssertionError("it waits too long")

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        path = "/api/v1/sweep"
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        await interface(service).private({**scope, "headers": []}, receive, send)

    asyncio.run(story())
    assert (sent[0]["status"], service.called) == (400, [])
    assert b"has not arrived within" in sent[1]["body"]


@pytest.mark.parametrize("is_ticket_known", [True, False])
def test_who_waits_in_line_when_the_server_stops_is_asked_to_come_again(*, is_ticket_known: bool) -> None:
    service, names = Service(), list[str]()

    def call(name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> object:
        names.append(name)
        return Service.call(service, name, (), {**named, "keys": arguments})

    class InLine(Service):
        def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> object:
            return call(name, arguments, named)

    async def story() -> None:
        app = interface(InLine())
        service.may_return.clear()
        body = {"keys": ["a.py"], "hold_seconds": 60.0} | ({"ticket": "lease-1"} if is_ticket_known else {})
        waiting = asyncio.ensure_future(asked(app.private, "/api/v1/leases", "POST", body=json.dumps(body).encode()))
        while not names:  # noqa: ASYNC110 - it is called in a thread
            await asyncio.sleep(0.01)
        asyncio.get_running_loop().call_later(0.2, service.may_return.set)  # so that a release can be answered
        await app.close()
        status, shape, headers = await waiting
        assert (status, shape["code"], headers["retry-after"]) == (503, "STORE_BUSY", "1")

    asyncio.run(story())
    assert names == ["acquire", *([] if is_ticket_known else ["release"])]


def test_whether_it_works_can_be_asked_without_a_body_and_not_told() -> None:
    for path in ("/healthz", "/readyz"):
        assert asyncio.run(asked(interface(Service()).private, path, "HEAD"))[0] == 200
    for path in ("/healthz", "/readyz", "/metrics"):
        status, shape, headers = asyncio.run(asked(interface(Service()).private, path, "POST"))
        assert (status, shape["code"], headers["allow"]) == (405, "ROUTE_UNKNOWN", "GET, HEAD")


@pytest.mark.parametrize("given", [{}, {"request_id": None}])
def test_an_idempotency_key_names_a_call_that_has_no_name(given: dict[str, Any]) -> None:
    for name, path, shape in (
        ("put", "/api/v1/values/x:1", {"text": "v", "expected_version": 0, **given}),
        ("commit", "/api/v1/commits", {"changeset": {"edits": [], **given}}),
    ):
        service = Service()
        method = "PUT" if name == "put" else "POST"
        body = json.dumps(shape).encode()
        asyncio.run(asked(interface(service).private, path, method, body=body, key="k"))
        (named,) = [each for called, each in service.called if called == name]
        assert (named["request_id"] if name == "put" else named["changeset"].request_id) == "k"


def test_an_idempotency_key_is_refused_where_a_repetition_would_take_effect() -> None:
    service, body = Service(), b'{"holders": ["ben"], "text": "hello"}'
    app = interface(service).private
    status, shape, _ = asyncio.run(asked(app, "/api/v1/messages", "POST", body=body, key="k"))
    assert (status, shape["code"], service.called) == (400, "USAGE", [])
    assert asyncio.run(asked(app, "/api/v1/messages", "POST", body=body))[0] == 200


@pytest.mark.parametrize(
    ("query", "code"), [(b"limit=10000000000000000000", "USAGE"), (b"after=99999999999999999999", "USAGE")]
)
def test_numbers_that_the_state_cannot_keep_are_refused_in_a_query(query: bytes, code: str) -> None:
    service = Service()
    status, shape, _ = asyncio.run(asked(interface(service).private, "/api/v1/events", query=query))
    assert (status, shape["code"], service.called) == (400, code, [])
