"""The MCP server as agents meet it: real processes, a real client, standard input and output."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import commonhold
from commonhold.server.compact_responses import thrifty
from commonhold.server.holder import Origin, Piped
from commonhold.server.mcp import Desk, build
from commonhold.server.tools import TOOLS

SOURCE = "import os\n\n\ndef one() -> int:\n    return 1\n\n\ndef two() -> int:\n    return 2\n"
ONE = "a.py#one"
COMMAND = [sys.executable, "-P", "-m", "commonhold", "mcp"]
HASH_DIGITS = 16
MAX_SCHEMA_TOKENS = 1400

pytestmark = pytest.mark.slow
Json = dict[str, Any]


@dataclass(frozen=True)
class Session:
    """A connected client, and its calls as the JSON that an agent reads."""

    client: Client

    async def call(self, name: str, arguments: Json | None = None, meta: Json | None = None) -> Json:
        answer, is_error = await self.raw(name, arguments, meta)
        assert not is_error, answer
        return answer

    async def error(self, name: str, arguments: Json | None = None) -> Json:
        answer, is_error = await self.raw(name, arguments)
        assert is_error, answer
        return answer

    async def raw(self, name: str, arguments: Json | None = None, meta: Json | None = None) -> tuple[Json, bool]:
        result = await self.client.call_tool(name, arguments, meta=meta)  # type: ignore[arg-type]
        (content,) = result.content
        assert content.type == "text"
        assert result.structured_content is None, "the answer is said once"
        answer: Json = json.loads(content.text)
        return answer, result.is_error


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.py").write_text(SOURCE, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


@asynccontextmanager
async def session(
    root: Path, agent: str | None = "agent-1", *, mode: str = "auto", env: dict[str, str] | None = None
) -> AsyncIterator[Session]:
    named = ["--agent", agent] if agent else []
    without_daemon = {"COMMONHOLD_DAEMON": "off", **(env or {})}
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *named], cwd=root, env=without_daemon)
    async with Client(stdio_client(server), mode=mode) as client:
        yield Session(client)


def play(root: Path, script: Callable[[Session], Awaitable[None]], **wishes: Any) -> None:
    async def run() -> None:
        async with session(root, **wishes) as agent:
            await script(agent)

    asyncio.run(run())


@asynccontextmanager
async def inside(root: Path, agent: str) -> AsyncIterator[Session]:
    """The same with the server in this process: what a call answers does not depend on how it travels."""
    desk = Desk(Piped(str(root), agent))
    async with Client(build(desk)) as client:
        yield Session(client)
    await desk.close()


def play_inside(root: Path, script: Callable[[Session], Awaitable[None]]) -> None:
    async def run() -> None:
        async with inside(root, "agent-1") as agent:
            await script(agent)

    asyncio.run(run())


def replacing(base: str, text: str, key: str = ONE) -> Json:
    return {"intent": "change it", "edits": [{"op": "replace", "key": key, "base": base, "text": text}]}


async def text_and_hash(agent: Session, key: str = ONE) -> tuple[str, str]:
    (region,) = (await agent.call("read", {"keys": [key]}))["regions"]
    return region["text"], region["hash"]


def test_the_tools_are_few_and_their_schemas_thin(root: Path) -> None:
    async def script(agent: Session) -> None:
        listed = (await agent.client.list_tools()).model_dump(by_alias=True, exclude_none=True, mode="json")
        names = [tool["name"] for tool in listed["tools"]]
        assert names == ["regions", "read", "acquire", "renew", "release", "commit", "get", "put", "status", "task"]
        assert len(json.dumps(listed, separators=(",", ":"))) / 4 <= MAX_SCHEMA_TOKENS
        assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in listed["tools"])

    play_inside(root, script)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_works_in_both_generations_of_the_protocol(root: Path, mode: str) -> None:
    async def script(agent: Session) -> None:
        found = await agent.call("regions", {"path": "a.py"})
        assert [region["key"] for region in found["regions"]][-1] == "file:a.py#two"
        text, base = await text_and_hash(agent)
        assert (text, len(base)) == ("def one() -> int:\n    return 1\n", HASH_DIGITS)

        granted = await agent.call("acquire", {"keys": [ONE], "task": "raise it", "ttl_seconds": 60})
        lease = granted["lease"]
        assert (granted["outcome"], lease["holder"], lease["keys"]) == ("granted", "agent-1", ["file:a.py#one"])
        assert "acquisition_id" not in lease
        renewed = await agent.call("renew", {"lease_id": lease["id"], "ttl_seconds": 120})
        assert renewed["lease"]["expires_at"] > lease["expires_at"]
        assert [each["task"] for each in (await agent.call("status"))["leases"]] == ["raise it"]

        wanted = replacing(base, text.replace("1", "11")) | {"leases": [{"id": lease["id"], "fence": lease["fence"]}]}
        assert (await agent.call("commit", wanted | {"dry_run": True}))["dry_run"]
        assert (root / "a.py").read_text(encoding="utf-8") == SOURCE
        assert (await agent.call("commit", wanted | {"request_id": "r1"}))["outcome"] == "committed"
        assert (await agent.call("commit", wanted | {"request_id": "r1"}))["outcome"] == "committed"
        assert "return 11" in (root / "a.py").read_text(encoding="utf-8")

        assert (await agent.call("release", {"lease_id": lease["id"]}))["outcome"] == "released"
        at = await agent.call("status", {"key": ONE})
        assert "leases" not in at
        assert [change["intent"] for change in at["changes"]] == ["change it"]

    play(root, script, mode=mode)


def test_a_refusal_is_a_result_with_what_is_needed_to_succeed(root: Path) -> None:
    async def script(agent: Session) -> None:
        text, base = await text_and_hash(agent)
        await agent.call("commit", replacing(base, text.replace("1", "5")))
        refused = await agent.call("commit", replacing(base, text.replace("1", "7")))
        assert (refused["outcome"], refused["code"]) == ("refused", "REGION_CHANGED")
        (fresh,) = refused["repair"]["regions"]
        assert fresh["text"] == text.replace("1", "5")
        assert (fresh["changed_by"], fresh["intent"]) == ("agent-1", "change it")
        assert "diff" not in fresh, "what is marked tells both changes"
        (unmerged,) = refused["repair"]["unmerged"]
        assert [each["reason"] for each in unmerged["obstacles"]] == ["BOTH_CHANGED"]
        marked = unmerged["marked"].partition("<<<<<<< ")[2]
        assert marked.index("return 7") < marked.index("=======") < marked.index("return 5")
        call = refused["next"]
        assert call["call"] == "commit"
        for edit in call["arguments"]["edits"]:
            edit["text"] = text.replace("1", "12")
        assert (await agent.call(call["call"], call["arguments"]))["outcome"] == "committed"

    play_inside(root, script)


def test_a_late_edit_is_merged_and_told_what_is_there_now(root: Path) -> None:
    async def script(agent: Session) -> None:
        text, base = await text_and_hash(agent)
        documented = text.replace("    return", '    """One."""\n    return')
        await agent.call("commit", replacing(base, text.replace("1", "5")))
        merged = await agent.call("commit", replacing(base, documented))
        assert (merged["outcome"], "code" in merged) == ("merged", False)
        (region,) = merged["merged"]
        (written,) = merged["regions"]
        assert set(region) <= {"key", "text", "diff"}, "what else there is stands in regions and notices"
        assert region.get("text") or "+    return 5" in region["diff"]
        assert any("agent-1" in notice and "change it" in notice for notice in merged["notices"])
        assert await text_and_hash(agent) == (documented.replace("1", "5"), written["hash"])
        again = await agent.call("commit", replacing(written["hash"], documented))
        assert again["outcome"] == "committed", "the answer's hash is the base to go on from"
        assert (await agent.call("commit", replacing(base, text) | {"merge": False}))["code"] == "REGION_CHANGED"

    play_inside(root, script)


def test_what_is_held_is_denied_with_a_next_call(root: Path) -> None:
    with commonhold.open(str(root), agent="other") as other:
        other.acquire(ONE, task="long work")

    async def script(agent: Session) -> None:
        denied = await agent.call("acquire", {"keys": [ONE], "task": "mine"})
        assert denied["outcome"] == "denied"
        (conflict,) = denied["conflicts"]
        assert (conflict["holder"], conflict["task"]) == ("other", "long work")
        assert denied["next"]["call"] == "acquire"
        text, base = await text_and_hash(agent)
        assert (await agent.call("commit", replacing(base, text)))["code"] == "LOCK_CONFLICT"

    play_inside(root, script)


def test_who_waits_is_served_in_turn_and_may_release_meanwhile(root: Path) -> None:
    async def script(agent: Session) -> None:
        async with session(root, "agent-2") as other:
            mine = (await agent.call("acquire", {"keys": [ONE], "task": "first"}))["lease"]
            waiting = asyncio.ensure_future(
                other.call("acquire", {"keys": [ONE], "task": "second", "wait_seconds": 500})
            )
            at: Json = {}
            while "waiters" not in at:  # each look gives the other server its time
                at = await agent.call("status", {"key": ONE})
            assert [each["holder"] for each in at["waiters"]] == ["agent-2"]
            assert (await other.call("status"))["leases"][0]["holder"] == "agent-1", "it answers while it waits"
            await agent.call("release", {"lease_id": mine["id"]})
            assert (await waiting)["lease"]["fence"] > mine["fence"]

    play(root, script)


def test_who_waits_in_vain_is_told_so_and_stands_in_no_line(root: Path) -> None:
    async def script(agent: Session) -> None:
        with commonhold.open(str(root), agent="other") as other:
            other.acquire(ONE, task="long work")
        denied = await agent.call("acquire", {"keys": [ONE], "task": "mine", "wait_seconds": 0.2})
        assert (denied["outcome"], denied["next"]["arguments"]["wait_seconds"]) == ("denied", 0.2)
        assert "waiters" not in await agent.call("status")

    play_inside(root, script)


def test_a_client_that_hangs_up_stands_in_no_line(root: Path) -> None:
    with commonhold.open(str(root), agent="other") as other:
        other.acquire(ONE, task="long work")
        wire = Wire(root)
        wire.begin("tools/call", {"name": "acquire", "arguments": {"keys": [ONE], "task": "t", "wait_seconds": 50}})
        while not other.status().waiters:
            time.sleep(0.05)
        assert wire.leave() == 0, "it does not wait for what nobody is there to hear"
        assert other.status().waiters == ()


def test_values_are_changed_by_who_knows_what_they_are(root: Path) -> None:
    async def script(agent: Session) -> None:
        (value,) = (await agent.call("get", {"keys": ["account:1"]}))["values"]
        assert value == {"key": "account:1", "version": 0, "text": None}
        wish = {"key": "account:1", "text": "frozen", "expected_version": 0}
        version = (await agent.call("put", wish))["value"]["version"]
        refused = await agent.call("put", wish)
        assert (refused["code"], refused["current"][0]["text"]) == ("VERSION_CHANGED", "frozen")
        assert refused["next"]["call"] == "get"
        relying = {"key": "order:1", "text": "x", "expected_version": 0, "reads": [{"key": "account:1", "version": 0}]}
        assert (await agent.call("put", relying))["code"] == "READ_CHANGED"
        await agent.call("put", wish | {"text": None, "expected_version": version})
        assert (await agent.call("get", {"keys": ["account:1"]}))["values"][0]["text"] is None

    play_inside(root, script)


MALFORMED: list[tuple[str, Json, str]] = [
    ("regions", {}, "USAGE"),
    ("regions", {"path": 3}, "USAGE"),
    ("regions", {"path": "nowhere.py"}, "FILE_NOT_FOUND"),
    ("regions", {"path": "../outside.py"}, "PATH_OUTSIDE"),
    ("read", {"keys": "a.py"}, "USAGE"),
    ("read", {"keys": []}, "USAGE"),
    ("read", {"keys": ["a.py#three"]}, "REGION_UNKNOWN"),
    ("acquire", {"keys": ["a.py"]}, "USAGE"),
    ("acquire", {"keys": [], "task": "t"}, "USAGE"),
    ("acquire", {"keys": ["a.py"], "task": "two\nlines"}, "TEXT_INVALID"),
    ("acquire", {"keys": ["a.py"], "task": "t", "ttl_seconds": 0}, "TTL_INVALID"),
    ("acquire", {"keys": ["a.py"], "task": "t", "mode": "mine"}, "USAGE"),
    ("acquire", {"keys": ["a.py"], "task": "t", "wait_seconds": "long"}, "USAGE"),
    ("renew", {"lease": "x"}, "USAGE"),
    ("release", {}, "USAGE"),
    ("commit", {}, "CHANGESET_INVALID"),
    ("commit", {"edits": 3, "intent": "i"}, "CHANGESET_INVALID"),
    ("commit", {"edits": [], "intent": "i"}, "CHANGESET_INVALID"),
    ("commit", {"edits": [{"op": "replace", "key": ONE, "text": "x"}], "intent": "i"}, "CHANGESET_INVALID"),
    ("commit", {"edits": [{"op": "replace", "key": ONE, "colour": "x"}], "intent": "i"}, "CHANGESET_INVALID"),
    ("commit", {"edits": [], "intent": "i", "dry_run": "maybe"}, "USAGE"),
    ("get", {"keys": []}, "USAGE"),
    ("get", {"keys": ["a.py"]}, "KEY_INVALID"),
    ("put", {"key": "x:1", "text": "y"}, "USAGE"),
    ("put", {"key": "x:1", "text": "y" * 70_000, "expected_version": 0}, "TEXT_INVALID"),
    ("status", {"keys": []}, "USAGE"),
    ("steal", {}, "USAGE"),
]


def test_malformed_arguments_are_errors_with_a_code_and_a_hint(root: Path) -> None:
    async def script(agent: Session) -> None:
        for name, arguments, code in MALFORMED:
            error = await agent.error(name, arguments)
            assert error["code"] == code, (name, arguments, error)
            assert error["message"]
            assert error["hint"]
        assert (await text_and_hash(agent))[0], "the server is as good as before"

    play_inside(root, script)
    assert (root / "a.py").read_text(encoding="utf-8") == SOURCE


async def edit(agent: Session, change: Callable[[str], str], both_have_read: asyncio.Barrier) -> list[str]:
    """Read, commit until it is written; the outcomes on the way."""
    text, base = await text_and_hash(agent)
    await both_have_read.wait()
    outcomes: list[str] = []
    while True:
        answer = await agent.call("commit", replacing(base, change(text)))
        outcomes.append(answer["outcome"])
        if answer["outcome"] != "refused":
            return outcomes
        (fresh,) = answer["repair"]["regions"]
        text, base = fresh["text"], fresh["hash"]


def race(root: Path, change: Callable[[str, int], Callable[[str], str]]) -> list[list[list[str]]]:
    """Five turns of two clients; the outcomes of both in each turn."""

    async def run() -> list[list[list[str]]]:
        turns = []
        async with session(root, "agent-1") as first, session(root, "agent-2") as second:
            for turn in range(5):
                both = asyncio.Barrier(2)
                edits = (edit(first, change("first", turn), both), edit(second, change("second", turn), both))
                turns.append(sorted(await asyncio.gather(*edits)))
        return turns

    return asyncio.run(run())


def test_two_clients_race_for_one_line_and_both_edits_are_there_in_the_end(root: Path) -> None:
    def add(who: str, turn: int) -> Callable[[str], str]:
        return lambda text: text.replace("return ", f"return {'1' if who == 'first' else '2'}0{turn} + ")

    assert race(root, add) == [[["committed"], ["refused", "committed"]]] * 5
    final = (root / "a.py").read_text(encoding="utf-8")
    assert all(final.count(f" {who}0{turn} +") == 1 for who in "12" for turn in range(5))


def test_two_clients_race_for_one_function_and_are_merged(root: Path) -> None:
    def annotate(who: str, turn: int) -> Callable[[str], str]:
        return lambda text: text.replace("    return", f"    # {who} {turn}\n    return")

    assert race(root, annotate) == [[["committed"], ["merged"]]] * 5
    final = (root / "a.py").read_text(encoding="utf-8")
    assert all(final.count(f"# {who} {turn}\n") == 1 for who in ("first", "second") for turn in range(5))


class Wire:
    """A server spoken to by hand, so that it can be killed in the middle of a call."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--agent", "agent-1"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._last = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
        self.ask("initialize", hello)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: Json) -> Json:
        self.begin(method, params)
        return self.answer()

    def begin(self, method: str, params: Json) -> None:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})

    def answer(self) -> Json:
        assert self.process.stdout is not None
        while True:
            message: Json = json.loads(self.process.stdout.readline())
            if message.get("id") == self._last:
                result: Json = message["result"]
                return result

    def tool(self, name: str, arguments: Json) -> Json:
        answer: Json = json.loads(self.ask("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"])
        return answer

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def leave(self) -> int:
        """Hang up as a client does; the exit status."""
        self.process.communicate(timeout=45)  # less than anybody waits in line here
        return self.process.returncode


@pytest.mark.parametrize("delay_seconds", [0.0, 0.004, 0.008, 0.016])
def test_a_killed_server_leaves_its_leases_and_no_half_commit(root: Path, delay_seconds: float) -> None:
    wire = Wire(root)
    lease = wire.tool("acquire", {"keys": [ONE, "a.py#two"], "task": "both"})["lease"]
    one, two = wire.tool("read", {"keys": [ONE, "a.py#two"]})["regions"]
    edits = [
        {"op": "replace", "key": each["key"], "base": each["hash"], "text": each["text"].replace("return ", "return 1")}
        for each in (one, two)
    ]
    wire.begin("tools/call", {"name": "commit", "arguments": {"intent": "both", "edits": edits}})
    asyncio.run(asyncio.sleep(delay_seconds))
    wire.kill()

    async def script(agent: Session) -> None:
        held = (await agent.call("status"))["leases"]
        assert [(each["id"], each["fence"]) for each in held] == [(lease["id"], lease["fence"])]
        texts = [region["text"] for region in (await agent.call("read", {"keys": [ONE, "a.py#two"]}))["regions"]]
        assert texts in ([one["text"], two["text"]], [edit["text"] for edit in edits])
        assert (await agent.call("release", {"lease_id": lease["id"]}))["outcome"] == "released"

    play_inside(root, script)


def test_the_server_ends_when_its_client_hangs_up(root: Path) -> None:
    assert Wire(root).leave() == 0


def holders_of(root: Path, env: dict[str, str], *metas: Json | None) -> list[str]:
    """Who holds a lease that was acquired with each `_meta`, all from one server."""

    async def run() -> None:
        async with session(root, None, env=env) as agent:
            for number, meta in enumerate(metas):
                await agent.call("acquire", {"keys": [f"x:{number}"], "task": "t"}, meta)

    asyncio.run(run())
    with commonhold.open(str(root)) as hold:
        return [lease.holder for lease in hold.leases()]


@pytest.mark.parametrize(
    ("env", "holder"),
    [
        ({"COMMONHOLD_AGENT": "mine", "CLAUDE_CODE_SESSION_ID": "claude"}, "mine"),
        ({"CLAUDE_CODE_SESSION_ID": "s1"}, "claude:s1"),
        ({"COMMONHOLD_AGENT": "a", "COMMONHOLD_HOLDER": "a", "CLAUDE_CODE_SESSION_ID": "s1"}, "claude:s1"),
        ({"COMMONHOLD_AGENT": "a", "COMMONHOLD_HOLDER": "b", "CLAUDE_CODE_SESSION_ID": "s1"}, "a"),
    ],
)
def test_a_name_from_the_environment_goes_before_that_of_a_call(root: Path, env: dict[str, str], holder: str) -> None:
    assert holders_of(root, env, {"sessionId": "codex"}) == [holder]


def test_without_one_the_call_names_the_holder_or_a_name_is_made_up(root: Path) -> None:
    codex, thread, made_up = holders_of(
        root, {}, {"sessionId": "codex", "threadId": "thread"}, {"threadId": "thread"}, None
    )
    assert (codex, thread) == ("codex", "thread")
    assert made_up.startswith("mcp-")


def answered_once(root: Path, name: str) -> Any:
    """The result of one call of a server that nothing else is asked of."""

    async def run() -> Any:
        desk = Desk(Piped(str(root), "a"))
        result = await desk.answer(name, {}, Origin())
        await desk.close()
        return result

    return asyncio.run(run())


def test_there_is_an_answer_where_there_is_no_repository(tmp_path: Path) -> None:
    result = answered_once(tmp_path / "gone", "status")
    assert result.is_error
    assert json.loads(result.content[0].text)["code"] == "FILE_NOT_FOUND"


def test_a_defect_is_an_error_and_not_the_end(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> Json:
        raise RuntimeError("a defect")

    monkeypatch.setattr("commonhold.server.mcp.call", broken)
    result = answered_once(root, "status")
    assert result.is_error
    assert json.loads(result.content[0].text)["code"] == "INTERNAL"
    assert "a defect" in caplog.text


def test_thrift_keeps_what_says_something() -> None:
    full = {
        "outcome": "refused",
        "sequence": 0,
        "notices": [],
        "dry_run": False,
        "regions": [{"key": "k", "id": "i", "parent": "p", "hash": "f" * 64, "text": "", "diff": None}],
        "next": {"call": "leases", "arguments": {}, "why": "see"},
    }
    assert thrifty(full) == {
        "outcome": "refused",
        "sequence": 0,
        "regions": [{"key": "k", "hash": "f" * HASH_DIGITS, "text": ""}],
        "next": {"call": "status", "why": "see"},
    }


def test_every_tool_says_how_to_use_it() -> None:
    assert all(tool.name == name and tool.description.endswith(".") for name, tool in TOOLS.items())


def test_a_task_is_added_claimed_and_ended_by_one_tool(root: Path) -> None:
    async def script(agent: Session) -> None:
        added = await agent.call("task", {"action": "add", "task": "a", "title": "do it", "keys": [ONE]})
        assert added["next"] == {"call": "task", "arguments": {"action": "claim"}}
        claimed = await agent.call("task", {"action": "claim"})
        step = claimed["next"]
        assert step["arguments"] == {"action": "done", "task": "a", "fence": claimed["lease"]["fence"]}
        ended = await agent.call("task", {**step["arguments"], "action": "unchanged", "note": "done before"})
        assert ended["tasks"][0]["condition"] == "landed"
        assert (await agent.call("task", {"action": "list"}))["outcome"] == "listed"

    play_inside(root, script)
