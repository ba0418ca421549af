"""Calls to a server over HTTP, while it is out of reach."""

from pathlib import Path

import pytest

from commonhold.client import http_channel
from commonhold.client.http_channel import Address, HttpChannel
from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.kernel.values import Value

VALUE = b'{"key": "x:1", "version": 3, "text": "t", "holder": "ann", "at": 5.0}'
PAGE = b"<html>the server is not there</html>"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_channel, "PAUSE_SECONDS", 0.0)


def channel(monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, bytes], patience: float = 60.0) -> HttpChannel:
    """Return a channel to a server that answers so, and then no more."""
    made, left = HttpChannel(Address("http://127.0.0.1:1", "token"), "ann", patience), list(answers)
    monkeypatch.setattr(made, "_exchanged", lambda *_: left.pop(0) if len(left) > 1 else left[0])
    return made


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_a_proxy_says_while_the_server_restarts_is_waited_out(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    way = channel(monkeypatch, (status, PAGE), (status, PAGE), (200, VALUE))
    assert way.call("get", ("x:1",), {}) == Value("x:1", 3, "t", "ann", 5.0)
    with pytest.raises(StoreError) as caught:
        channel(monkeypatch, (status, PAGE), patience=0.0).call("get", ("x:1",), {})
    assert caught.value.code is Code.SERVER_UNREACHABLE


@pytest.mark.parametrize("call", [("content", ("ab" * 32,)), ("send", ("ben", "hello")), ("sweep", ())])
@pytest.mark.parametrize("status", [200, 502])
def test_what_another_program_answers_is_no_answer_to_any_call(
    monkeypatch: pytest.MonkeyPatch, call: tuple[str, tuple[str, ...]], status: int
) -> None:
    name, arguments = call
    with pytest.raises(StoreError) as caught:
        channel(monkeypatch, (status, PAGE), patience=0.0).call(name, arguments, {})
    assert caught.value.code is Code.SERVER_UNREACHABLE


@pytest.mark.parametrize("status", [400, 403, 404, 500, 502, 503])
@pytest.mark.parametrize(("name", "body"), [("briefing", b'{"error": "bad gateway"}'), ("leases", b'{"items": []}')])
def test_an_error_of_a_proxy_is_no_empty_answer(
    monkeypatch: pytest.MonkeyPatch, name: str, body: bytes, status: int
) -> None:
    with pytest.raises(StoreError) as caught:
        channel(monkeypatch, (status, body), patience=0.0).call(name, (), {})
    assert caught.value.code is Code.SERVER_UNREACHABLE


@pytest.mark.parametrize("name", ["empty", "no such file", "\0", "\ud800", "."])
def test_certificates_that_cannot_be_read_are_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    with pytest.raises(UsageError, match="certificates"):
        HttpChannel(Address("https://127.0.0.1:1", "token", f"{tmp_path}/{name}"), "ann", 0)


def test_another_program_at_the_address_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match=r"no answer of Commonhold \(status 404\)"):
        channel(monkeypatch, (404, PAGE), (200, VALUE)).call("get", ("x:1",), {})
