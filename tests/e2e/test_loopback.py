"""The loopback: who knows the token is served there, and nobody else, whatever page a browser is led to."""

import http.client
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.e2e.cli_driver import Call, make_repository
from tests.e2e.daemon_process import place
from tests.e2e.hooked import Hooked, hooked
from tests.patience import PATIENCE_SECONDS, until

from commonhold.diagnostics import http as probes
from commonhold.diagnostics.finding import Level
from commonhold.diagnostics.http import is_answered, over_http
from commonhold.kernel.errors import CommonholdError
from commonhold.workspace import loopback
from commonhold.workspace.loopback import Loopback

pytestmark = pytest.mark.slow
DENY: Final = b'{"do": "deny"}'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hooked, Loopback]]:
    root = make_repository(tmp_path_factory.mktemp("served") / "work")
    chosen = loopback.choose(str(root / ".git/commonhold"), None)
    with hooked(root) as daemon:
        until(lambda: is_answered(chosen))  # its private socket, by which it was found, is open a moment before
        yield daemon, chosen


def post(chosen: Loopback, path: str = "/hooks/probe", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(loopback.HOST, chosen.port, timeout=60)
    try:
        connection.request("POST", path, DENY, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_who_knows_the_token_is_given_the_body_alone(served: tuple[Hooked, Loopback]) -> None:
    _, chosen = served
    denied = (200, json.dumps({"deny": "held by bob: «später»"}, ensure_ascii=False).encode())
    assert post(chosen, Authorization=f"Bearer {chosen.token}") == denied
    assert post(chosen, f"/t/{chosen.token}/hooks/probe") == denied
    assert post(chosen, Authorization=f"Bearer {chosen.token}", Host=f"localhost:{chosen.port}") == denied
    assert post(chosen, Authorization=f"Bearer {chosen.token}", Origin=chosen.url) == denied


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/hooks/probe", {}, 401),
        ("/hooks/probe", {"Authorization": "Bearer "}, 401),
        ("/hooks/probe", {"Authorization": "Bearer another"}, 401),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN\xe9"}, 401),
        ("/t/another/hooks/probe", {}, 401),
        ("/t/TOKEN", {"Authorization": "Bearer another"}, 401),
        ("/mcp", {}, 401),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Host": "pages.example:PORT"}, 421),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Host": "127.0.0.1:1"}, 421),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Host": "127.0.0.1:x"}, 421),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Host": "evil@127.0.0.1:PORT"}, 421),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Host": "127.0.0.1:PORT/x"}, 421),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Origin": "http://evil@127.0.0.1:PORT"}, 403),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Origin": "http://pages.example"}, 403),
        ("/hooks/probe", {"Authorization": "Bearer TOKEN", "Origin": "null"}, 403),
        ("/hooks/nobody", {"Authorization": "Bearer TOKEN"}, 404),
        ("/elsewhere", {"Authorization": "Bearer TOKEN"}, 404),
    ],
)
def test_nobody_else_is_let_in(
    served: tuple[Hooked, Loopback], path: str, headers: dict[str, str], status: int
) -> None:
    _, chosen = served

    def told(text: str) -> str:
        return text.replace("TOKEN", chosen.token).replace("PORT", str(chosen.port))

    assert post(chosen, told(path), **{name: told(value) for name, value in headers.items()})[0] == status


def test_who_is_turned_away_keeps_no_place(served: tuple[Hooked, Loopback]) -> None:
    _, chosen = served
    with socket.create_connection((loopback.HOST, chosen.port), timeout=60) as stranger:
        stranger.sendall(f"GET / HTTP/1.1\r\nhost: {loopback.HOST}:{chosen.port}\r\n\r\n".encode())
        heard = b""
        while part := stranger.recv(4096):
            heard += part
    assert heard.startswith(b"HTTP/1.1 401 ")


def test_who_hangs_up_at_once_is_not_taken_for_somebody_on_the_private_socket(
    served: tuple[Hooked, Loopback], tmp_path: Path
) -> None:
    daemon, chosen = served
    body = json.dumps({"do": f"wait {tmp_path}/go"}).encode()
    head = f"POST /hooks/probe HTTP/1.1\r\nhost: 127.0.0.1:{chosen.port}\r\ncontent-length: {len(body)}\r\n\r\n"
    for _ in range(20):
        with socket.create_connection((loopback.HOST, chosen.port)) as rude:
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # it resets the connection
            rude.sendall(head.encode() + body)
    assert daemon.hook({"do": "pass"}).status == 0
    assert not (tmp_path / "go.begun").exists()


def test_the_command_serves_there_and_no_more(run: Call, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    with place(root) as served:
        told = run("daemon", "http", "--json").json["http"]
        chosen = loopback.loopback(str(served.state))
        assert chosen is not None
        assert told == {"url": chosen.url, "token": chosen.token, "mcp": f"{chosen.url}/mcp"}
        assert stat.S_IMODE(os.stat(served.state / loopback.FILE).st_mode) == 0o600  # noqa: PTH116
        assert is_answered(chosen)
        findings = {each["check"]: each["level"] for each in run("doctor", "--json").json["findings"]}
        assert findings["http"] == "ok"
        run("daemon", "http", "--off")
        assert loopback.loopback(str(served.state)) is None
        assert not is_answered(chosen)


def test_a_port_that_another_has_is_told_and_the_daemon_lives(
    run: Call, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PATIENCE_SECONDS", 0.3)  # the other one never answers
    with place(root) as served, socket.create_server((loopback.HOST, 0)) as other:
        port = other.getsockname()[1]
        refused = run("daemon", "http", "--port", str(port), "--json")
        assert (refused.status, refused.json["code"]) == (4, "STORE_BUSY")
        assert f"port {port}" in refused.json["message"]
        until(lambda: f"port {port} of this machine cannot be used" in served.log)
        (finding,) = over_http(str(served.state), served.pid)
        assert (finding.level, "another program" in finding.found) == (Level.FAIL, True)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"port": 0, "token": "x"}', '{"port": 80, "token": "a/b"}', '{"port": true, "token": "x"}'],
)
def test_a_choice_that_is_damaged_is_told_and_made_anew(tmp_path: Path, text: str) -> None:
    file = tmp_path / loopback.FILE
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(CommonholdError, match=r"http\.json"):
        loopback.loopback(str(tmp_path))
    assert [each.level for each in over_http(str(tmp_path), None)] == [Level.FAIL]
    chosen = loopback.choose(str(tmp_path), 4711)
    assert loopback.loopback(str(tmp_path)) == chosen == Loopback(4711, chosen.token)


def test_a_token_stays_with_its_port(tmp_path: Path) -> None:
    chosen = loopback.choose(str(tmp_path), None)
    assert loopback.choose(str(tmp_path), None) == chosen == loopback.choose(str(tmp_path), chosen.port)
    assert loopback.choose(str(tmp_path), 4711).token != chosen.token


def test_a_token_that_others_may_read_is_not_trusted(tmp_path: Path) -> None:
    before = loopback.choose(str(tmp_path), 4711)
    (tmp_path / loopback.FILE).chmod(0o644)
    with pytest.raises(CommonholdError, match="others may read it"):
        loopback.loopback(str(tmp_path))
    assert loopback.choose(str(tmp_path), 4711).token != before.token
