"""`commonhold serve`: who is answered over the network and how, and that nothing is lost when it ends."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.e2e.cli_driver import Call, make_repository
from tests.e2e.served import HOST, Server, process, served
from tests.patience import PATIENCE_SECONDS, until

import commonhold
from commonhold import Changeset, Code, CommonholdError, Edit, Op
from commonhold.cli import serve
from commonhold.cli.common_options import Given
from commonhold.kernel.scopes import Scope
from commonhold.server.asgi import MAX_BODY_BYTES
from commonhold.server.face import Face, listen
from commonhold.server.network import browser
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.repository import find_repository
from commonhold.workspace.tokens import revoke, tokens

pytestmark = pytest.mark.slow
ONE: Final = "a.py#one"
LEASES: Final = "/api/v1/leases"
RESTART_SECONDS: Final = 5 * PATIENCE_SECONDS
"""A server that is killed and started several times takes long to come back on a busy machine."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = make_repository(tmp_path_factory.mktemp("served") / "work")
    (root / "link.py").symlink_to("/etc/passwd")
    (root / "out").symlink_to("/etc")
    with served(root) as found:
        yield found


def bearer(server: Server, scope: Scope = Scope.AGENT, agent: str | None = "ann", **more: Any) -> dict[str, str]:
    named = {} if agent is None else {"X_Commonhold_Agent": agent}
    return {"Authorization": f"Bearer {server.token(scope, **more)}", **named}


PATHS: Final = [
    "/metrics",
    LEASES,
    "/api/v1/openapi.json",
    "/api/v1/events",
    "/api/v1/nothing",
    "/hooks/claude",
    "/session",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_is_had_without_a_token(server: Server, method: str, path: str) -> None:
    answer = server.ask(method, path)
    assert (answer.status, answer.json["code"]) == (401, "TOKEN_INVALID")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["connection"] == "close"


def test_the_dashboard_needs_none_and_has_no_data(server: Server) -> None:
    for path in ("/", "/dashboard/app.js", "/dashboard/style.css"):
        answer = server.ask("GET", path)
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        name = path.rpartition("/")[2] or "index.html"
        assert answer.body == (Path(browser.__file__).parents[1] / "dashboard" / name).read_bytes()
        assert server.ask("GET", path, Host="pages.example").status == 421
        assert server.ask("POST", path).status == 401


def test_health_needs_none(server: Server) -> None:
    assert server.ask("GET", "/healthz").json == {"status": "ok"}
    assert server.ask("GET", "/readyz").json == {"status": "ready"}
    assert server.ask("GET", "/healthz", Host="pages.example").status == 421


def test_a_page_of_another_site_is_refused(server: Server) -> None:
    admitted = bearer(server)
    assert server.ask("GET", LEASES, Host="pages.example", **admitted).json["code"] == "HOST_REFUSED"
    assert server.ask("GET", LEASES, Origin="http://pages.example", **admitted).json["code"] == "ORIGIN_REFUSED"
    assert server.ask("GET", LEASES, Origin=server.url, **admitted).status == 200


def test_a_token_is_for_its_scope_and_its_repository(server: Server, tmp_path: Path) -> None:
    body = {"keys": ["x:scope"]}
    assert server.ask("POST", LEASES, body, **bearer(server, Scope.OBSERVER, None)).json["code"] == "SCOPE_INSUFFICIENT"
    assert server.ask("POST", LEASES, body, **bearer(server, Scope.REVIEWER)).status == 403
    assert server.ask("POST", LEASES, body, **bearer(server, holder="ben")).status == 403
    assert server.ask("GET", LEASES, **bearer(server, Scope.OBSERVER, None)).status == 200
    with served(make_repository(tmp_path / "other")) as other:
        assert server.ask("GET", LEASES, **bearer(other)).status == 401


def test_a_revoked_token_is_refused_at_once(server: Server) -> None:
    admitted = bearer(server)
    assert server.ask("GET", LEASES, **admitted).status == 200
    revoke(str(server.state), admitted["Authorization"].split("_")[1])
    assert server.ask("GET", LEASES, **admitted).status == 401


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../../etc/passwd", "PATH_OUTSIDE"),
        ("%2e%2e/%2e%2e/etc/passwd", "PATH_OUTSIDE"),
        ("/etc/passwd", "PATH_OUTSIDE"),
        ("link.py", "PATH_OUTSIDE"),
        ("out/passwd", "PATH_OUTSIDE"),
        (".git/config", "PATH_RESERVED"),
        (".git/commonhold/tokens.json", "PATH_RESERVED"),
    ],
)
@pytest.mark.parametrize("route", ["/api/v1/texts?keys=file:", "/api/v1/regions?path=", "/api/v1/regions/parsed?path="])
def test_no_path_leads_out_of_the_repository(server: Server, route: str, path: str, code: str) -> None:
    answer = server.ask("GET", route + path, **bearer(server, Scope.ADMIN))
    assert (answer.status, answer.json["code"]) == (403, code)
    assert b"root:" not in answer.body


def test_a_request_that_is_too_large_is_refused_before_it_was_sent(server: Server) -> None:
    admitted = bearer(server)
    with socket.create_connection((HOST, server.port), timeout=PATIENCE_SECONDS) as raw:
        head = f"POST {LEASES} HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: {admitted['Authorization']}\r\n"
        raw.sendall(f"{head}Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode())
        assert raw.recv(4096).startswith(b"HTTP/1.1 413 ")
    answer = server.ask("POST", LEASES, b"[" + b" " * 10_000 + b"]", **admitted)
    assert (answer.status, answer.json["code"]) == (400, "USAGE")


def test_too_many_requests_are_told_when_to_come_again(tmp_path: Path) -> None:
    with served(make_repository(tmp_path / "work"), rate=1.0) as server:
        admitted = bearer(server)
        answers = [server.ask("GET", LEASES, **admitted) for _ in range(30)]
        refused = [each for each in answers if each.status == 429]
        assert refused
        assert all(each.json["code"] == "RATE_LIMITED" and int(each.headers["retry-after"]) >= 1 for each in refused)
        assert server.ask("GET", LEASES, **bearer(server)).status == 200, "others are not held up"


def test_this_user_needs_no_token_over_the_private_socket(server: Server) -> None:
    raw = socket.socket(socket.AF_UNIX)
    raw.settimeout(PATIENCE_SECONDS)
    raw.connect(http_address(str(server.state)))
    connection = http.client.HTTPConnection("localhost")
    connection.sock = raw
    connection.request("GET", "/api/v1/status")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["root"]) == (200, str(server.root))
    connection.close()


def test_what_did_not_change_is_not_sent_again(server: Server) -> None:
    admitted = bearer(server)
    path = "/api/v1/texts?keys=a.py%23one"
    first = server.ask("GET", path, **admitted)
    tag = first.headers["etag"]
    assert tag == f'"{first.json["items"][0]["hash"]}"'
    again = server.ask("GET", path, If_None_Match=f'"other", {tag}', **admitted)
    assert (again.status, again.body) == (304, b"")


def test_an_idempotency_key_makes_a_repetition_harmless(server: Server) -> None:
    admitted = bearer(server, agent="keyed")
    body = {"text": "v", "expected_version": 0}
    answers = [server.ask("PUT", "/api/v1/values/x:keyed", body, Idempotency_Key="k", **admitted) for _ in range(2)]
    assert [each.status for each in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    assert server.ask("PUT", "/api/v1/values/x:keyed", body, Idempotency_Key="k2", **admitted).status == 409


def test_what_is_not_there_is_told_with_the_methods_that_are(server: Server) -> None:
    answer = server.ask("DELETE", LEASES, **bearer(server))
    assert (answer.status, answer.headers["allow"], answer.json["code"]) == (405, "GET, POST", "ROUTE_UNKNOWN")
    assert server.ask("GET", "/api/v1/nothing", **bearer(server)).status == 404


def test_a_client_that_hangs_up_leaves_the_line(server: Server) -> None:
    ann, admitted = server.connect("line-ann"), bearer(server, agent="line-ben")
    lease = ann.acquire("x:line").lease
    assert lease is not None
    raw = socket.create_connection((HOST, server.port))
    body = json.dumps({"keys": ["x:line"], "patience_seconds": 60, "hold_seconds": 60}).encode()
    head = f"POST {LEASES} HTTP/1.1\r\nHost: {HOST}\r\nX-Commonhold-Agent: line-ben\r\n"
    head += f"Authorization: {admitted['Authorization']}\r\nContent-Length: {len(body)}\r\n\r\n"
    raw.sendall(head.encode() + body)
    until(lambda: [each.holder for each in ann.status().waiters] == ["line-ben"])
    raw.close()
    until(lambda: not ann.status().waiters)
    ann.release(lease.id)
    assert ann.leases(holder="line-ben") == ()
    ann.close()


def test_a_secret_in_an_event_is_masked(server: Server) -> None:
    token = server.token()
    with server.connect("leaky") as leaky:
        leaky.acquire("x:leaky", task=f"use {token} there")
        shown = server.ask("GET", "/api/v1/events?after=0&limit=1000", **bearer(server, Scope.OBSERVER, None))
    assert b"use *** there" in shown.body
    assert token.encode() not in shown.body


def test_metrics_count_what_happened(server: Server) -> None:
    with server.connect("metric-ann") as ann, server.connect("metric-ben") as ben:
        ann.acquire("x:metric")
        ben.acquire("x:metric")
    text = server.ask("GET", "/metrics", **bearer(server, Scope.OBSERVER, None)).body.decode()
    found = dict(line.rpartition(" ")[::2] for line in text.splitlines() if not line.startswith("#"))
    assert int(found["commonhold_grants_total"]) >= 1
    assert int(found['commonhold_refusals_total{code="LOCK_CONFLICT"}']) >= 1
    assert int(found["commonhold_newest_event"]) >= 2


def test_a_wrong_address_or_token_is_told_at_once(server: Server) -> None:
    with pytest.raises(CommonholdError) as wrong:
        commonhold.connect(server.url, token="chd_x")
    assert wrong.value.code is Code.TOKEN_INVALID
    with socket.socket() as free:
        free.bind((HOST, 0))
        url = f"http://{HOST}:{free.getsockname()[1]}"
        with pytest.raises(CommonholdError) as gone:
            commonhold.connect(url, token="t")
    assert gone.value.code is Code.SERVER_UNREACHABLE
    with pytest.raises(CommonholdError) as none:
        commonhold.connect("ftp://x", token="t")
    assert none.value.code is Code.USAGE


@pytest.mark.parametrize("words", ["--host ::", "--host 192.0.2.1", "--tls-cert a.pem", "--tls-cert a --tls-key b"])
def test_an_unsafe_or_unusable_choice_is_refused(run: Call, words: str) -> None:
    refused = run("serve", "--port", "0", *words.split(), "--json")
    assert refused.json["code"] in ("ADDRESS_UNSAFE", "USAGE", "CONFIG_INVALID")
    assert "--tls-" in refused.json["hint"] or "PEM" in refused.json["hint"]


def test_a_port_that_is_taken_is_told_and_the_daemon_lives(run: Call, root: Path) -> None:
    run("daemon", "start")
    with socket.create_server((HOST, 0)) as other:
        refused = run("serve", "--port", str(other.getsockname()[1]), "--json")
    assert refused.json["code"] == "STORE_BUSY"
    assert run("daemon", "status").status == 0, root


def test_tokens_are_issued_listed_and_revoked(run: Call) -> None:
    assert run("token", "list").status == 0, "an empty list is no failure"
    made = run("token", "issue", "--scope", "observer", "--label", "wall", "--days", "7", "--json").json
    assert made["token"].startswith(f"chd_{made['id']}_")
    assert run("token", "issue").text.startswith("chd_")
    listed = run("token", "list", "--json")
    assert [each["scope"] for each in listed.json["tokens"]] == ["observer", "agent"]
    assert made["token"] not in listed.text
    assert "observer  wall  until 20" in run("token", "list").text
    assert run("token", "revoke", made["id"]).text.startswith(f"revoked {made['id']}")
    missing = run("token", "revoke", made["id"], "--json")
    assert (missing.status, missing.json["code"]) == (3, "TOKEN_UNKNOWN")


def test_a_token_that_signs_a_browser_in_is_listed_as_such(run: Call) -> None:
    made = run("token", "issue", "--scope", "reviewer", "--once", "--json").json
    assert (made["once"], made["expires_at"] is None) == (True, False)
    assert "signs one browser in" in run("token", "list").text
    refused = run("token", "issue", "--once", "--days", "1", "--json")
    assert (refused.status, refused.json["code"]) == (2, "USAGE")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_link_of_the_dashboard_is_printed_in_terminals_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, is_terminal: bool
) -> None:
    repository = find_repository(str(make_repository(tmp_path / "work")))
    monkeypatch.setattr(serve, "is_terminal", lambda: is_terminal)
    opened = listen(Face(port=0))
    with opened.listeners[0]:
        serve._tell(Given(), repository, opened)
        said = capsys.readouterr().out
        assert f"dashboard: {opened.url}/" in said
    assert ("#chd_" in said) is is_terminal
    assert [(each.is_once, each.scope) for each in tokens(repository.state_folder)] == (
        [(True, Scope.ADMIN)] if is_terminal else []
    )


def certificate(folder: Path) -> tuple[str, str]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    names = [str(folder / name) for name in ("cert.pem", "key.pem")]
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*words, "-out", names[0], "-keyout", names[1]], check=True, capture_output=True)
    return names[0], names[1]


def test_it_is_served_with_tls(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with served(make_repository(tmp_path / "work"), certificate=cert, key=key) as server:
        assert server.url.startswith("https://")
        with server.connect(ca_file=cert) as ann:
            assert ann.acquire("x:1").outcome == "granted"
        with pytest.raises(CommonholdError) as untrusted:
            server.connect()
        assert untrusted.value.code is Code.SERVER_UNREACHABLE
        assert "certificate" in untrusted.value.message
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            server.ask("GET", "/healthz")
        old = ssl.create_default_context(cafile=cert)
        old.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with (
            socket.create_connection((HOST, server.port)) as raw,
            pytest.raises((ssl.SSLEOFError, ConnectionError)),  # the server ends it; this end would go on
        ):
            old.wrap_socket(raw, server_hostname=HOST)


def test_another_server_takes_over_from_the_daemon_and_ends_in_order(root: Path, run: Call) -> None:
    run("daemon", "start")
    with process(root) as server:
        assert server.pid == server.process.pid
        for words in (("serve",), ("daemon", "http"), ("daemon", "http", "--off")):
            second = run(*words, "--json").json
            assert (second["code"], second["fields"]["url"]) == ("STORE_OWNED", server.url)
        with server.session("local", daemon=True) as local, server.connect("far") as far:
            assert local.acquire(ONE).outcome == "granted"
            assert far.acquire(ONE).outcome == "denied"
        os.kill(server.process.pid, signal.SIGINT)
        server.process.communicate(timeout=PATIENCE_SECONDS)
        assert server.process.returncode == 0


def test_clients_go_on_when_the_server_is_killed_and_nothing_acknowledged_is_lost(root: Path) -> None:
    """Two agents write to one file in turns while the server is killed and started again, three times."""
    done: dict[str, int] = {"ann": 0, "ben": 0}
    faults: list[BaseException] = []
    with process(root) as server:
        port = server.port

        def work(name: str) -> None:
            try:
                with server.connect(name, patience_seconds=RESTART_SECONDS) as agent:
                    for number in range(25):
                        with agent.hold("count.py", wait_seconds=RESTART_SECONDS) as held:
                            text = Path(root, "count.py").read_text() + f"{name}_{number} = 1\n"
                            (region,) = agent.read("count.py")
                            held.check()
                            change = Edit(Op.REPLACE, "count.py", region.hash, text=text)
                            answer = agent.commit(Changeset((change,), f"{name} {number}"))
                        assert answer.outcome == "committed", answer
                        done[name] += 1
            except BaseException as fault:  # the main thread raises it
                faults.append(fault)
                raise

        (root / "count.py").write_text("begun = 1\n")
        workers = [threading.Thread(target=work, args=(name,)) for name in done]
        for each in workers:
            each.start()
        for kills in range(1, 4):
            while sum(done.values()) < 8 * kills and any(each.is_alive() for each in workers):
                time.sleep(0.01)
            server.kill()
            server.start(port)
        for each in workers:
            each.join(RESTART_SECONDS)
        assert faults == []
        assert done == {"ann": 25, "ben": 25}
        lines = Path(root, "count.py").read_text().splitlines()
        written = {f"{name}_{number} = 1" for name in done for number in range(25)}
        assert sorted(lines) == sorted({"begun = 1", *written})
        with server.connect("reader") as reader:
            committed = [each for each in reader.log(after=0, limit=1000) if type(each.event).__name__ == "Committed"]
        assert len(committed) == 50
