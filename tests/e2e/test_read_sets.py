"""What agents have read, by the command line, over MCP and through the daemon: two of them, each told of the other."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import Call, git, process
from tests.e2e.daemon_process import serving
from tests.e2e.test_cli_commands import next_words
from tests.e2e.test_mcp import Session, inside, session, text_and_hash
from tests.patience import until

from commonhold import Changeset, Edit, Op, Refusal
from commonhold.server.tools import TOOLS

ONE = b"def one(scale=1):\n    return os.sep * scale\n"
CALLS_ONE = b"def two(value):\n    return one() + one() * value\n"
CHANGED = "the parameters of `one` changed from () to (scale=1)"
TOLD = f"`one` in a.py, which you read, was changed by ben (scale it): {CHANGED}"


def base_of(run: Call, key: str, *more: str) -> str:
    found: str = run("show", key, "--json", *more).json["regions"][0]["hash"]
    return found


def test_a_reader_is_told_whatever_it_calls_next_and_refused_until_it_has_read(run: Call) -> None:
    base = base_of(run, "a.py#two")
    run("show", "a.py#one")
    mine = run("show", "a.py#one", "--agent", "ben", "--json").json["regions"][0]["hash"]
    ben = ("--agent", "ben", "--intent", "scale it")
    assert run("commit", "--key", "a.py#one", "--base", mine, *ben, stdin=ONE).status == 0

    first, second = run("leases"), run("leases")
    assert first.err.startswith(f"notice: {TOLD}\n--- as you read it\n+++ now\n")
    assert "+def one(scale=1):" in first.err
    assert (first.out, second.err) == (second.out, "")

    refused = run("commit", "--key", "a.py#two", "--base", base, "--intent", "add", stdin=CALLS_ONE)
    assert refused.status == 1
    assert refused.text.startswith(f"refused [CONTRACT_CHANGED]: {TOLD}, and your text uses it (a.py:11)\n")
    assert "changed by ben" in refused.text
    assert "redo your text to fit the text above" in refused.text
    assert next_words(refused.text)[:3] == ["commit", "--changeset", "-"]

    changeset = json.loads(refused.text.partition("<<'END'\n")[2].partition("\nEND")[0])
    assert changeset["reads"] == [{"key": "file:a.py#one", "hash": base_of(run, "a.py#one", "--agent", "cat")}]
    changeset["edits"][0]["text"] = CALLS_ONE.decode().replace("one() +", "one(2) +")
    assert run("commit", "--changeset", "-", stdin=json.dumps(changeset).encode()).status == 0


def test_what_a_hook_reports_counts_as_read(run: Call) -> None:
    seen = run("record-read", "a.py#one", "a.py", "--json").json
    assert [each["key"] for each in seen["regions"]] == ["file:a.py#one", "file:a.py"]
    assert run("record-read", "a.py#one").text == f"file:a.py#one  hash {seen['regions'][0]['hash'][:16]}\n"
    base = base_of(run, "a.py#one", "--agent", "ben")
    run("commit", "--key", "a.py#one", "--base", base, "--agent", "ben", "--intent", "scale it", stdin=ONE)
    acquired = run("acquire", "account:1")
    assert f"notice: {TOLD}\n" in acquired.text
    assert acquired.err == ""


def test_only_who_has_a_name_can_be_told(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT")
    failed = run("record-read", "a.py")
    assert (failed.status, "HOLDER_MISSING" in failed.err) == (2, True)


def test_another_working_tree_is_another_place(root: Path, run: Call, tmp_path: Path) -> None:
    git(root, "worktree", "add", "--quiet", str(tmp_path / "side"))
    run("show", "a.py#one")
    base = base_of(run, "a.py#one", "--agent", "ben", "-C", str(tmp_path / "side"))
    there = ("--agent", "ben", "-C", str(tmp_path / "side"))
    assert run("commit", "--key", "a.py#one", "--base", base, *there, stdin=ONE).status == 0
    assert run("leases").err == ""


@pytest.mark.parametrize("tool", [*sorted(set(TOOLS) - {"commit"}), "commit"])
def test_every_tool_tells_it_once(root: Path, tool: str) -> None:
    async def script() -> None:
        async with inside(root, "ann") as ann, inside(root, "ben") as ben:
            await text_and_hash(ann, "a.py#one")
            lease = (await ann.call("acquire", {"keys": ["x:1"], "task": "t"}))["lease"]
            await _scaled(ben)
            for expected in ([TOLD], []):
                told = (await ann.call(tool, _arguments(tool, lease["id"]))).get("notices", [])
                assert [each.partition("\n")[0] for each in told if "which you read" in each] == expected

    _run(script())


def _arguments(tool: str, lease_id: str) -> dict[str, Any]:
    edit = {"op": "create_file", "key": "new.txt", "text": "x"}
    every: dict[str, dict[str, Any]] = {
        "regions": {"path": "a.py"},
        "read": {"keys": ["a.py#two"]},
        "acquire": {"keys": ["x:2"], "task": "t"},
        "renew": {"lease_id": lease_id},
        "release": {"lease_id": lease_id},
        "commit": {"edits": [edit], "intent": "more"},
        "get": {"keys": ["x:1"]},
        "put": {"key": "x:1", "text": "y", "expected_version": 0},
        "status": {},
        "task": {"action": "list"},
    }
    return every[tool]


async def _scaled(ben: Session) -> None:
    _, base = await text_and_hash(ben, "a.py#one")
    edit = {"op": "replace", "key": "a.py#one", "base": base, "text": ONE.decode()}
    assert (await ben.call("commit", {"intent": "scale it", "edits": [edit]}))["outcome"] == "committed"


@pytest.mark.slow
def test_the_call_that_a_refusal_names_succeeds_over_mcp(root: Path) -> None:
    async def script() -> None:
        async with session(root, "ann") as ann, session(root, "ben") as ben:
            await text_and_hash(ann, "a.py#one")
            _, base = await text_and_hash(ann, "a.py#two")
            await _scaled(ben)
            edit = {"op": "replace", "key": "a.py#two", "base": base, "text": CALLS_ONE.decode()}
            refused = await ann.call("commit", {"intent": "add", "edits": [edit]})
            assert (refused["code"], "notices" in refused) == ("CONTRACT_CHANGED", False)
            (fresh,) = refused["repair"]["regions"]
            assert (fresh["text"], fresh["changed_by"], fresh["intent"]) == (ONE.decode(), "ben", "scale it")
            assert "+def one(scale=1):" in fresh["diff"]
            call = refused["next"]
            call["arguments"]["edits"][0]["text"] = CALLS_ONE.decode().replace("one() +", "one(2) +")
            assert (await ann.call(call["call"], call["arguments"]))["outcome"] == "committed"

    _run(script())


def _run(script: Any) -> None:
    asyncio.run(script)


@pytest.mark.slow
def test_two_agents_of_one_daemon_are_told_of_each_other(root: Path) -> None:
    with serving(root) as daemon, daemon.session("ann") as ann, daemon.session("ben") as ben:
        ann.read("a.py#one")
        (two,) = ann.read("a.py#two")
        (one,) = ben.read("a.py#one")
        assert ben.commit(Changeset((Edit(Op.REPLACE, one.key, one.hash, ONE.decode()),), "scale it")).sequence
        waiting = ben.acquire("x:1").lease
        assert waiting is not None
        granted = _granted_meanwhile(daemon, ann, waiting.id)
        assert [each.partition("\n")[0] for each in granted] == [TOLD]
        assert ann.news() == ()
        use = Changeset((Edit(Op.REPLACE, two.key, two.hash, CALLS_ONE.decode()),), "add")
        assert ann.commit(use).code is Refusal.CONTRACT_CHANGED
        assert ann.record_read("a.py#one")[0].key == one.key
        assert ann.commit(use).outcome == "committed"
        assert [each.key for each in ben.news()] == []
    assert process("log", "--json", cwd=root).returncode == 0


def _granted_meanwhile(daemon: Any, waiter: Any, lease_id: str) -> tuple[str, ...]:
    """What is told with a grant that was waited for: the answers that were kept back told nothing."""
    with daemon.session("ben") as ben:

        def release_when_it_is_waited_for() -> None:
            until(lambda: ben.status().waiters)
            ben.release(lease_id)

        releasing = threading.Thread(target=release_when_it_is_waited_for)
        releasing.start()
        answer = waiter.acquire("x:1", wait_seconds=60.0)
        releasing.join()
    assert answer.outcome == "granted"
    notices: tuple[str, ...] = answer.notices
    return notices
