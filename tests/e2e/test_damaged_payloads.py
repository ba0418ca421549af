"""What agents sent, with something in it damaged: refused or passed, never approved, and no harm to others."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.daemon_process import place
from tests.unit.agents.captured import FILES, name_of, payload_in

import commonhold
from commonhold.agents.hook_runtime import HookRuntime
from commonhold.agents.registry import AGENTS
from commonhold.agents.runtime import editing
from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.hooks import Hooks
from commonhold.client.channel import Channel
from commonhold.client.opening import find_channel
from commonhold.server.http import _in_parts
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow
SEED, EACH = 6, 8
VALUES: tuple[Any, ...] = (None, True, 7, -1.5e308, 10**30, "", "\x00", "\ud800", "/" * 50, "x" * 10_000)
SHAPES: tuple[Any, ...] = ([], {}, ["a"], [[]], {"a": 1}, [None], {"command": 3})
APPROVALS = ("allow", "approve", True)
DECISIONS = ("permissionDecision", "decision", "permission", "behavior")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = make_repository(tmp_path_factory.mktemp("damaged") / "work")
    with place(made):
        yield made


def find_channel_at(path: str, agent: str | None) -> tuple[str, Channel]:
    return find_channel(path, agent, {"daemon": True})


@pytest.fixture(scope="module")
def hooks(root: Path) -> Iterator[Hooks]:
    """All that answers, in this process; who finds that others hold code that it changes does not wait for them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(editing, "PATIENCE_SECONDS", 0.0)
        patched.setattr(editing, "SLOT_PATIENCE_SECONDS", 0.0)
        attendants = HookRuntime(find_repository(str(root)), find_channel_at, set())
        yield Hooks(AGENTS, attendants.attend, CallsSeen())
        attendants.close()


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside of another."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield (*at, name)
        yield from places(each, (*at, name))


def damaged(payload: dict[str, Any], at: tuple[Any, ...], chance: random.Random) -> str:
    """The payload with another value there, with none, or with one more of that name."""
    made = copy.deepcopy(payload)
    around: Any = made
    for name in at[:-1]:
        around = around[name]
    value = chance.choice((*VALUES, *SHAPES))
    match chance.choice(("another", "another", "none", "two")):
        case "none":
            del around[at[-1]]
        case "two" if isinstance(at[-1], str):
            around["\x01"] = value
            return json.dumps(made).replace('"\\u0001"', json.dumps(at[-1]))
        case _:
            around[at[-1]] = value
    return json.dumps(made)


def answered(hooks: Hooks, agent: str, body: str) -> str:
    """All that is said; that it can be sent and does not approve is asserted."""
    reply = hooks.answer(agent, body.encode(), "")
    assert _in_parts(reply).status == 200
    shape = json.loads(reply.body or b"{}")
    for each in (shape, shape.get("hookSpecificOutput", {})):
        assert not any(each.get(name) in APPROVALS for name in DECISIONS), (body, shape)
    return reply.body.decode() + reply.complaint


@pytest.mark.parametrize("agent", sorted({file.parent.name for file in FILES}))
def test_whatever_is_damaged_is_refused_or_passes(agent: str, hooks: Hooks, root: Path) -> None:
    chance = random.Random(SEED)
    for file in FILES:
        if file.parent.name != agent:
            continue
        payload = json.loads(json.dumps(payload_in(file)).replace("/repo", str(root)))
        known = list(places(payload))
        for at in chance.sample(known, min(EACH, len(known))):
            body = damaged(payload, at, chance)
            said = answered(hooks, agent, body)
            assert "a defect of Commonhold" not in said, (name_of(file), body, said)


@pytest.mark.parametrize("agent", ["claude", "gemini"])
def test_half_a_surrogate_pair_in_one_agents_command_is_no_matter_of_the_next(
    agent: str, hooks: Hooks, root: Path
) -> None:
    """Gemini gives a call no name, so that it goes by its command."""
    shape: dict[str, Any] = {"session_id": "half", "cwd": str(root), "tool_use_id": "call \ud83d"}
    shape |= {"claude": {"tool_name": "Bash"}, "gemini": {"tool_name": "run_shell_command"}}[agent]
    shape |= {"tool_input": {"command": "echo \ud83d"}}
    for event in {"claude": ("PreToolUse", "PostToolUse"), "gemini": ("BeforeTool", "AfterTool")}[agent]:
        assert "Commonhold" not in answered(hooks, agent, json.dumps({**shape, "hook_event_name": event}))
        other = {"session_id": "next", "cwd": str(root), "hook_event_name": "UserPromptSubmit", "prompt": "go on"}
        assert "Commonhold" not in answered(hooks, "claude", json.dumps(other))


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("Bash", {"command": "true && " * 2000 + "true"}, "nested too deeply"),
        ("Write", {"file_path": "a/" * 3000, "content": ""}, "longer than the name of any file"),
        ("Write", {"file_path": "../" * 3000, "content": ""}, "longer than the name of any file"),
    ],
)
def test_what_cannot_be_judged_for_its_size_is_refused_with_what_to_do(
    tool: str, arguments: dict[str, str], why: str, hooks: Hooks, root: Path
) -> None:
    shape = {"session_id": "s", "cwd": str(root), "hook_event_name": "PreToolUse", "tool_use_id": "c"}
    said = answered(hooks, "claude", json.dumps({**shape, "tool_name": tool, "tool_input": arguments}))
    assert why in said
    assert "Next: " in said
    assert len(said) < 1000


def test_a_text_that_was_cut_in_the_middle_of_a_character_is_heard_all_the_same(hooks: Hooks, root: Path) -> None:
    """So long texts come from programs that count in UTF-16."""
    file = root / "smile.py"
    file.write_text("SMILE = '\U0001f600'\nEYES = 2\n", encoding="utf-8")
    shape = {"session_id": "cut", "cwd": str(root), "hook_event_name": "UserPromptSubmit", "prompt": "Smile \ud83d"}
    assert answered(hooks, "claude", json.dumps(shape)) == ""
    shape = {"session_id": "cut", "cwd": str(root), "hook_event_name": "PostToolUse", "tool_name": "Read"}
    shown = {"file": {"content": "SMILE = '\ud83d"}}
    read = {**shape, "tool_input": {"file_path": str(file)}, "tool_response": shown}
    assert answered(hooks, "claude", json.dumps(read)) == ""
    edit = {"file_path": str(file), "old_string": "EYES = 2", "new_string": "EYES = 3"}
    write = {**shape, "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit, "tool_use_id": "cut"}
    assert answered(hooks, "claude", json.dumps(write)) == ""
    with commonhold.open(str(root), agent="claude:cut") as session:
        assert session.intent() == "Smile \ufffd"
