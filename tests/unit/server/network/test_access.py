"""Which requests over the network are admitted, and what they may do."""

from pathlib import Path
from typing import Any

import pytest

from commonhold.api.routes import ROUTES
from commonhold.kernel.errors import Code, CommonholdError, UsageError
from commonhold.kernel.scopes import Scope
from commonhold.server.network.access import OWNER, Access
from commonhold.server.network.gate import Gate, Rates
from commonhold.workspace.tokens import KnownTokens, issue, revoke

NOW = 1000.0


def asked(kind: str = "http", subprotocols: tuple[str, ...] = (), **headers: str) -> Any:
    named = {"host": "127.0.0.1:7420", **headers}
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]
    return {"type": kind, "headers": pairs, "subprotocols": subprotocols}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


@pytest.fixture
def gate(folder: str) -> Gate:
    return Gate(KnownTokens(folder), ["Build.example"], 10.0, lambda: NOW, lambda: 0.0)


def refusal(gate: Gate, scope: Any) -> Code | None:
    try:
        gate.admit(scope)
    except CommonholdError as fault:
        return fault.code
    return None


@pytest.mark.parametrize("host", ["127.0.0.1:7420", "localhost", "10.0.0.5:80", "[::1]:7420", "build.example:7420"])
def test_addresses_and_known_names_are_hosts(gate: Gate, host: str) -> None:
    gate.check_place(asked(host=host))
    gate.check_place(asked(host=host, origin=f"http://{host}"))


@pytest.mark.parametrize(
    "host", ["pages.example", "127.0.0.1.pages.example", "evil@127.0.0.1", "127.0.0.1/x", "127.0.0.1:x", "", "[::1"]
)
def test_a_name_that_only_leads_here_is_refused(gate: Gate, host: str) -> None:
    assert refusal(gate, asked(host=host)) is Code.HOST_REFUSED


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "origin", ["http://pages.example", "null", "http://127.0.0.1:1", "http://evil@127.0.0.1:7420", "http://["]
)
def test_a_page_of_another_site_is_refused(gate: Gate, folder: str, kind: str, origin: str) -> None:
    _, text = issue(folder, Scope.ADMIN, NOW)
    assert refusal(gate, asked(kind, origin=origin, authorization=f"Bearer {text}")) is Code.ORIGIN_REFUSED


def test_a_bearer_is_admitted_until_the_token_is_revoked(gate: Gate, folder: str) -> None:
    token, text = issue(folder, Scope.OBSERVER, NOW, holder="ann")
    access = gate.admit(asked(authorization=f"bearer {text}"))
    assert (access.scope, access.bearer, access.holder) == (Scope.OBSERVER, token.id, "ann")
    assert access.is_valid()
    revoke(folder, token.id)
    assert not access.is_valid()
    assert refusal(gate, asked(authorization=f"Bearer {text}")) is Code.TOKEN_INVALID


@pytest.mark.parametrize("text", ["", "Bearer", "Bearer ", "Bearer x", "Basic TOKEN", "TOKEN", "Bearer TOKEN TOKEN"])
def test_nobody_else_is_admitted(gate: Gate, folder: str, text: str) -> None:
    _, token = issue(folder, Scope.AGENT, NOW)
    assert refusal(gate, asked(authorization=text.replace("TOKEN", token))) is Code.TOKEN_INVALID


def test_a_page_sends_the_token_of_a_websocket_among_its_subprotocols(gate: Gate, folder: str) -> None:
    _, text = issue(folder, Scope.OBSERVER, NOW)
    offered = ("commonhold", f"bearer.{text}")
    assert gate.admit(asked("websocket", offered)).scope is Scope.OBSERVER
    assert refusal(gate, asked("http", offered)) is Code.TOKEN_INVALID
    assert refusal(gate, asked("websocket", ("commonhold", "bearer.x"))) is Code.TOKEN_INVALID


def test_a_bearer_that_asks_too_often_is_told_when_to_ask_again() -> None:
    now = [0.0]
    rates = Rates(10.0, lambda: now[0])
    for _ in range(20):
        rates.take("a")
    with pytest.raises(CommonholdError) as fault:
        rates.take("a")
    assert fault.value.code is Code.RATE_LIMITED
    assert fault.value.retry_after_seconds == pytest.approx(0.1)
    rates.take("b")
    now[0] = 0.1
    rates.take("a")
    with pytest.raises(CommonholdError):
        rates.take("a")


def test_requests_that_are_refused_do_not_put_off_the_next_one() -> None:
    now = [0.0]
    rates = Rates(10.0, lambda: now[0])
    for _ in range(20):
        rates.take("a")
    for _ in range(1000):
        now[0] += 0.001
        if now[0] > 0.1:
            break
        with pytest.raises(CommonholdError):
            rates.take("a")
    rates.take("a")


def allowed(scope: Scope) -> set[str]:
    def may(name: str) -> bool:
        try:
            Access(scope).check(ROUTES[name])
        except UsageError:
            return False
        return True

    return set(filter(may, ROUTES))


def test_each_scope_may_do_its_own_work() -> None:
    every = {each: allowed(each) for each in Scope}
    assert every[Scope.ADMIN] == set(ROUTES)
    assert every[Scope.OBSERVER] == {name for name, each in ROUTES.items() if each.method == "GET"}
    assert {"commit", "acquire", "claim_task", "leases"} <= every[Scope.AGENT]
    assert not every[Scope.AGENT] & {"break_lease", "review", "waive", "recover", "apply_retention"}
    assert not every[Scope.REVIEWER] & {"compact_log", "chain"}
    assert {"break_lease", "review", "waive", "leases"} <= every[Scope.REVIEWER]
    assert not every[Scope.REVIEWER] & {"commit", "acquire", "put", "recover", "apply_retention"}


@pytest.mark.parametrize(
    ("access", "given", "name"),
    [
        (Access(Scope.AGENT), "ann", "ann"),
        (Access(Scope.AGENT), None, None),
        (Access(Scope.AGENT, holder="ann"), None, "ann"),
        (Access(Scope.AGENT, holder="ann"), "ann/sub", "ann/sub"),
        (Access(Scope.OBSERVER), None, None),
        (OWNER, "ben", "ben"),
    ],
)
def test_a_request_acts_in_a_name(access: Access, given: str | None, name: str | None) -> None:
    assert access.name(given) == name


@pytest.mark.parametrize(
    ("access", "given"),
    [
        (Access(Scope.AGENT, holder="ann"), "ben"),
        (Access(Scope.AGENT, holder="ann"), "annie"),
        (Access(Scope.OBSERVER), "ann"),
    ],
)
def test_a_token_does_not_act_in_other_names(access: Access, given: str) -> None:
    with pytest.raises(CommonholdError) as fault:
        access.name(given)
    assert fault.value.code is Code.SCOPE_INSUFFICIENT
