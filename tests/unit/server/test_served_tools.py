"""Tools that MCP servers offer, from the payload of a hook to its answer: judged as edits, and never for nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hooked import Agent, House, house

from commonhold.agents.claude import CLAUDE
from commonhold.agents.gemini import GEMINI
from commonhold.agents.hook_events import Caller, Swap
from commonhold.agents.runtime import editing

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
OTHERWISE = SOURCE.replace("return 1", "return 10")
WRITE = "mcp__filesystem__write_file"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(editing, "PATIENCE_SECONDS", 0.0)
    with house(tmp_path) as made:
        made.write("a.py", SOURCE)
        yield made


def hook(home: House, event: str, tool: str, arguments: dict[str, Any], cwd: str = "") -> dict[str, Any]:
    """What Claude Code is answered."""
    payload = {
        "session_id": "s",
        "cwd": str(home.root / cwd),
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": arguments,
        "tool_use_id": "t",
        **({"tool_response": [{"type": "text", "text": "done"}]} if event == "PostToolUse" else {}),
    }
    happening = CLAUDE.read(payload, "")
    body = CLAUDE.write(happening, home.attending.attend(happening)).body
    return json.loads(body) if body else {}


def why_not(answer: dict[str, Any]) -> str:
    output = answer.get("hookSpecificOutput", {})
    return str(output["permissionDecisionReason"]) if output.get("permissionDecision") == "deny" else ""


def test_what_another_holds_is_refused(home: House) -> None:
    home.session(str(home.root), "ann").acquire("a.py#f", task="a rework")
    calls: list[tuple[str, dict[str, Any]]] = [
        (WRITE, {"path": str(home.root / "a.py"), "content": OTHERWISE}),
        (WRITE, {"path": "a.py", "content": OTHERWISE}),
        (WRITE, {"uri": f"file://{home.root}/a.py", "content": OTHERWISE}),
        ("mcp__filesystem__edit_file", {"path": "a.py", "edits": [{"oldText": "return 1", "newText": "return 10"}]}),
        ("mcp__filesystem__edit_file", {"path": "a.py", "edits": [{"oldText": "not there", "newText": "x"}]}),
        ("mcp__filesystem__move_file", {"source": "a.py", "destination": "b.py"}),
        ("mcp__s__delete_file", {"path": "a.py"}),
        ("mcp__s__insert_at_line", {"path": "a.py", "line": 1, "text": "x"}),
        ("Scribble", {"file": "a.py", "text": "x"}),
    ]
    for tool, arguments in calls:
        assert '- ann holds file:a.py#f for "a rework"' in why_not(hook(home, "PreToolUse", tool, arguments)), arguments


def test_a_path_may_count_from_the_root_where_the_server_works(home: House) -> None:
    home.write("src/deep/b.py", "x = 1\n")
    home.session(str(home.root), "ann").acquire("src/deep/b.py", task="a rework")
    refused = hook(home, "PreToolUse", WRITE, {"path": "src/deep/b.py", "content": "x = 2\n"}, cwd="src")
    assert "ann holds file:src/deep/b.py" in why_not(refused)


def test_a_folder_is_moved_unless_another_holds_something_in_it(home: House) -> None:
    home.write("src/b.py", "x = 1\n")
    move = ("mcp__filesystem__move_file", {"source": "src", "destination": "lib"})
    assert hook(home, "PreToolUse", *move) == {}
    home.session(str(home.root), "ann").acquire("src/b.py", task="a rework")
    assert "ann holds file:src/b.py" in why_not(hook(home, "PreToolUse", *move))


def test_another_part_of_the_file_is_edited(home: House) -> None:
    home.session(str(home.root), "ann").acquire("a.py#f", task="a rework")
    edit = ("mcp__filesystem__edit_file", {"path": "a.py", "edits": [{"oldText": "return 2", "newText": "return 20"}]})
    assert hook(home, "PreToolUse", *edit) == {}
    home.write("a.py", SOURCE.replace("return 2", "return 20"))
    assert hook(home, "PostToolUse", *edit) == {}
    service = home.service(None)
    assert {lease.holder for lease in service.who("a.py#g").leases} == {"claude:s"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (WRITE, {"path": "a.py", "content": OTHERWISE}),
        (WRITE, {"path": "new.py", "content": "x = 1\n"}),
        (WRITE, {"path": "\0", "content": "x"}),
        (WRITE, {"path": "/proc/self/cwd/a.py", "content": "x"}),
        ("mcp__filesystem__edit_file", {"path": "a.py", "edits": [{"oldText": "not there", "newText": "x"}]}),
        ("mcp__filesystem__edit_file", {"path": "missing.py", "edits": [{"oldText": "a", "newText": "x"}]}),
        ("mcp__s__insert_at_line", {"path": "a.py", "line": 1, "text": "x"}),
        ("mcp__s__delete_file", {"path": "a.py"}),
        ("mcp__s__read_file", {"path": "a.py"}),
        ("mcp__s__lint", {"path": "a.py", "text": "def f(:"}),
    ],
)
def test_who_disturbs_nobody_notices_nothing(home: House, tool: str, arguments: dict[str, Any]) -> None:
    assert hook(home, "PreToolUse", tool, arguments) == {}
    assert hook(home, "PostToolUse", tool, arguments) == {}


def test_what_only_reads_is_never_refused(home: House) -> None:
    home.session(str(home.root), "ann").acquire("a.py", task="a rework")
    for tool in ("mcp__s__read_file", "mcp__s__search_files", "mcp__s__get_file_info", "edit_tools_read_file"):
        assert hook(home, "PreToolUse", tool, {"path": "a.py", "text": "return"}) == {}, tool


def test_what_another_changed_is_not_overwritten_unread(home: House) -> None:
    Agent(home, Caller("codex", "two")).edits(Swap("a.py", "return 1", "return 11"))
    Agent(home, Caller("codex", "two")).rests()
    write = (WRITE, {"path": "a.py", "content": OTHERWISE})
    assert "(REGION_CHANGED)" in why_not(hook(home, "PreToolUse", *write))
    home.attending.close()


def test_what_a_server_has_read_is_known(home: House) -> None:
    Agent(home, Caller("codex", "two")).edits(Swap("a.py", "return 1", "return 11"))
    Agent(home, Caller("codex", "two")).rests()
    assert hook(home, "PostToolUse", "mcp__filesystem__read_file", {"path": "a.py"}) == {}
    assert hook(home, "PreToolUse", WRITE, {"path": "a.py", "content": OTHERWISE}) == {}


def test_it_is_so_for_gemini_too(home: House) -> None:
    home.session(str(home.root), "ann").acquire("a.py#f", task="a rework")
    payload = {
        "session_id": "s",
        "cwd": str(home.root),
        "hook_event_name": "BeforeTool",
        "tool_name": "mcp_files_write_file",
        "tool_input": {"path": "a.py", "content": OTHERWISE},
    }
    happening = GEMINI.read(payload, "")
    answer = json.loads(GEMINI.write(happening, home.attending.attend(happening)).body)
    assert answer["decision"] == "deny"
    assert "ann holds file:a.py#f" in answer["reason"]
