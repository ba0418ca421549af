"""MCP over HTTP: one server for the sessions of all agents, in both generations of the protocol."""

import asyncio
import http.client
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.e2e.cli_driver import GIT, make_repository
from tests.e2e.daemon_process import kept
from tests.e2e.hooked import Hooked, hooked
from tests.patience import PATIENCE_SECONDS, until

import commonhold
from commonhold.diagnostics.http import is_answered
from commonhold.workspace import loopback
from commonhold.workspace.loopback import Loopback

pytestmark = pytest.mark.slow
Json = dict[str, Any]
Hear = Callable[[httpx2.Response], Awaitable[None]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hooked, Loopback]]:
    root = make_repository(tmp_path_factory.mktemp("mcp") / "work")
    chosen = loopback.choose(str(root / ".git/commonhold"), None)
    with hooked(root) as daemon:
        until(lambda: is_answered(chosen))
        yield daemon, chosen


async def unheard(_: httpx2.Response) -> None:
    """Let an answer pass."""


@asynccontextmanager
async def client(chosen: Loopback, mode: str, hear: Hear = unheard, **headers: str) -> AsyncIterator[Client]:
    """A client; `hear` is called with the head of each answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    admitted, hooks = {"Authorization": f"Bearer {chosen.token}", **named}, {"response": [hear]}
    async with (
        httpx2.AsyncClient(headers=admitted, timeout=60, event_hooks=hooks) as carrier,
        Client(streamable_http_client(f"{chosen.url}/mcp", http_client=carrier), mode=mode) as connected,
    ):
        yield connected


async def call(connected: Client, name: str, arguments: Json, meta: Json | None = None) -> Json:
    result = await connected.call_tool(name, arguments, meta=meta)  # type: ignore[arg-type]
    (content,) = result.content
    assert content.type == "text"
    answer: Json = json.loads(content.text)
    return answer


async def holder(connected: Client, key: str, meta: Json | None = None) -> str:
    answer = await call(connected, "acquire", {"keys": [key], "task": "t"}, meta)
    name: str = answer["lease"]["holder"] if "lease" in answer else answer["code"]
    return name


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session_that_is_named_reads_and_commits(served: tuple[Hooked, Loopback], mode: str) -> None:
    daemon, chosen = served

    async def script() -> None:
        async with client(chosen, mode, X_Commonhold_Agent=f"agent-{mode}") as agent:
            assert len((await agent.list_tools()).tools) == 10
            (one,) = (await call(agent, "read", {"keys": ["a.py#one"]}))["regions"]
            edit = {
                "op": "replace",
                "key": "a.py#one",
                "base": one["hash"],
                "text": f"def one():\n    return '{mode}'\n",
            }
            answer = await call(agent, "commit", {"intent": "say it", "edits": [edit]})
            assert answer["outcome"] == "committed", answer
            changes = (await call(agent, "status", {"key": "a.py#one"}))["changes"]
            assert changes[0]["holder"] == f"agent-{mode}"

    asyncio.run(script())
    assert f"return '{mode}'" in (daemon.root / "a.py").read_text(encoding="utf-8")


def test_a_call_that_a_hook_has_reported_is_that_of_its_session(served: tuple[Hooked, Loopback]) -> None:
    daemon, chosen = served
    assert daemon.hook({"do": "pass", "session": "s1", "tool_use_id": "toolu_1"}).status == 0

    async def script() -> None:
        async with client(chosen, "auto") as claude:
            assert await holder(claude, "x:1", {"claudecode/toolUseId": "toolu_1"}) == "probe:s1"
            assert await holder(claude, "x:2", {"claudecode/toolUseId": "toolu_2"}) == "HOLDER_MISSING"
            assert "leases" in await call(claude, "status", {}), "who has no name may ask"

    asyncio.run(script())


def test_sessions_of_the_older_wire_have_names_of_their_own(served: tuple[Hooked, Loopback]) -> None:
    _, chosen = served

    async def script() -> None:
        async with client(chosen, "legacy") as one, client(chosen, "legacy") as two:
            names = [await holder(one, "y:1"), await holder(two, "y:2"), await holder(one, "y:3")]
            assert names[0] == names[2] != names[1]
            assert all(name.startswith("mcp-") for name in names)

    asyncio.run(script())


def test_a_client_works_in_the_working_tree_that_it_names(served: tuple[Hooked, Loopback], tmp_path: Path) -> None:
    daemon, chosen = served
    other = tmp_path / "other"
    subprocess.run([*GIT, "-C", str(daemon.root), "worktree", "add", "--quiet", "--detach", str(other)], check=True)
    (other / "only.py").write_text("x = 1\n", encoding="utf-8")

    async def script() -> None:
        async with client(chosen, "auto", X_Commonhold_Folder=str(other)) as agent:
            assert (await call(agent, "regions", {"path": "only.py"}))["language"] == "python"
        async with client(chosen, "auto", X_Commonhold_Folder=str(tmp_path)) as stranger:
            assert (await call(stranger, "status", {}))["code"] == "USAGE"

    asyncio.run(script())


def test_who_waits_in_line_holds_up_nobody_else(served: tuple[Hooked, Loopback]) -> None:
    _, chosen = served

    async def script() -> None:
        async with (
            client(chosen, "auto", X_Commonhold_Agent="ann") as ann,
            client(chosen, "auto", X_Commonhold_Agent="bob") as bob,
        ):
            mine = (await call(ann, "acquire", {"keys": ["z:1"], "task": "first"}))["lease"]
            waiting = asyncio.ensure_future(call(bob, "acquire", {"keys": ["z:1"], "task": "t", "wait_seconds": 50}))
            seen: Json = {}
            while "waiters" not in seen:  # each look gives the other its time
                seen = await call(ann, "status", {"key": "z:1"})
            await call(ann, "release", {"lease_id": mine["id"]})
            assert (await waiting)["lease"]["fence"] > mine["fence"]

    asyncio.run(script())


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_who_hangs_up_leaves_the_line(served: tuple[Hooked, Loopback], version: str) -> None:
    _, chosen = served

    async def script() -> None:
        async with client(chosen, "auto", X_Commonhold_Agent="ann") as ann:
            mine = (await call(ann, "acquire", {"keys": ["z:2"], "task": "first"}))["lease"]
            hang_up = await asyncio.to_thread(waiting_for, "z:2", chosen, version)
            while "waiters" not in await call(ann, "status", {"key": "z:2"}):
                pass
            hang_up()
            while "waiters" in await call(ann, "status", {"key": "z:2"}):
                pass
            await call(ann, "release", {"lease_id": mine["id"]})
            assert "leases" not in await call(ann, "status", {"key": "z:2"})

    asyncio.run(script())


def waiting_for(key: str, chosen: Loopback, version: str) -> Callable[[], None]:
    """Ask for a key that another holds, and wait in line for it; what ends the connection."""
    carrier = http.client.HTTPConnection(loopback.HOST, chosen.port, timeout=60)
    headers = {"Authorization": f"Bearer {chosen.token}", "Accept": "application/json, text/event-stream"}
    headers |= {"Content-Type": "application/json", "MCP-Protocol-Version": version, "X-Commonhold-Agent": "bob"}
    headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "acquire"}
    about = {"protocolVersion": version, "clientInfo": {"name": "bob", "version": "1"}}

    def post(**message: Any) -> None:
        carrier.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)

    if version < "2026":
        post(id=1, method="initialize", params={**about, "capabilities": {}})
        answer = carrier.getresponse()
        headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        answer.read()
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in {**about, "clientCapabilities": {}}.items()}
    asked = {"keys": [key], "task": "t", "wait_seconds": 50}
    post(id=2, method="tools/call", params={"name": "acquire", "arguments": asked, "_meta": meta})
    return carrier.close


def test_an_open_stream_keeps_the_daemon_and_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work")
    chosen = loopback.choose(str(root / ".git/commonhold"), None)

    async def script(daemon: Hooked) -> None:
        is_open = asyncio.Event()

        async def hear(answer: httpx2.Response) -> None:
            if (answer.request.method, answer.status_code) == ("GET", 200):
                is_open.set()

        async with client(chosen, "legacy", hear) as agent:  # it listens to a stream of what the server may say
            await agent.list_tools()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await is_open.wait()
            await asyncio.to_thread(let_go)
            await asyncio.sleep(1.5)
            assert daemon.process.poll() is None
            daemon.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(until, lambda: daemon.process.poll() is not None)

    let_go = kept(root)
    with hooked(root, idle_seconds=0.1) as daemon:
        asyncio.run(script(daemon))
        assert daemon.said() == ""


def test_who_waits_in_line_when_the_daemon_is_asked_to_end_is_told_to_come_again(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work")
    chosen = loopback.choose(str(root / ".git/commonhold"), None)

    async def script(daemon: Hooked) -> None:
        async with client(chosen, "auto", X_Commonhold_Agent="ann") as ann:
            await call(ann, "acquire", {"keys": ["z:1"], "task": "first"})
            async with client(chosen, "auto", X_Commonhold_Agent="bob") as bob:
                asked = {"keys": ["z:1"], "task": "second", "wait_seconds": 50}
                waiting = asyncio.ensure_future(call(bob, "acquire", asked))
                seen: Json = {}
                while "waiters" not in seen:
                    seen = await call(ann, "status", {"key": "z:1"})
                daemon.process.send_signal(signal.SIGTERM)
                assert (await waiting)["code"] == "STORE_BUSY"
                assert daemon.process.wait(timeout=60) == 0

    with hooked(root) as daemon:
        asyncio.run(script(daemon))
        assert daemon.said() == ""
        with commonhold.open(str(root)) as hold:
            assert (len(hold.status().leases), hold.status().waiters) == (1, ())
