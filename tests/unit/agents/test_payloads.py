"""What real agents sent is read for what it was; what is broken is never taken for harmless."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.agents.captured import FILES, agent_of, name_of, payload_in, told_of

from commonhold.agents.agent import Unreadable
from commonhold.agents.claude import CLAUDE
from commonhold.agents.codex import CODEX
from commonhold.agents.copilot import COPILOT
from commonhold.agents.cursor import CURSOR
from commonhold.agents.hook_events import (
    AboutToEdit,
    AboutToRun,
    Caller,
    CellEdit,
    Edited,
    Ends,
    Happening,
    HasRead,
    Manner,
    Part,
    Patched,
    PromptGiven,
    Ran,
    Removed,
    SessionBegan,
    SubagentBegan,
    Swap,
    TurnEnded,
    Unconcerned,
    Whole,
)
from commonhold.agents.registry import AGENTS
from commonhold.agents.vscode import VSCODE
from commonhold.reads.partial_reads import CUT

EXPECTED = dict(
    line.split(" | ", 1) for line in Path(__file__).with_name("happenings.txt").read_text("utf-8").splitlines()
)
ARGUMENTS = ("tool_input", "toolArgs", "args")
SPOILED: tuple[Any, ...] = (None, 7, [], {"a": "b"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_payload_is_read_for_what_it_is(file: Path) -> None:
    assert told_of(agent_of(file).read(payload_in(file), "")) == EXPECTED[name_of(file)]


def test_every_expectation_has_its_payload() -> None:
    assert sorted(EXPECTED) == sorted(name_of(file) for file in FILES)


def writes(file: Path) -> bool:
    return isinstance(agent_of(file).read(payload_in(file), ""), AboutToEdit | AboutToRun)


def damaged(payload: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The payload with one thing taken away or spoiled."""
    found = []
    place = next(name for name in ARGUMENTS if name in payload)
    for name in payload[place]:
        for spoiled in SPOILED:
            bad = copy.deepcopy(payload)
            bad[place][name] = spoiled
            found.append((f"{name} is {spoiled}", bad))
        gone = copy.deepcopy(payload)
        del gone[place][name]
        found.append((f"no {name}", gone))
    found += [(f"arguments are {value}", payload | {place: value}) for value in (*SPOILED, "x", {})]
    return found


def optional(name: str) -> bool:
    """Whether a tool does its work without this argument, so that the call means what it meant."""
    beside = ("description", "instruction", "replace_all", "replaceAll", "allow_multiple", "timeout_ms", "mode")
    of_cells = ("edit_mode", "cell_type", "cell_id", "new_source")
    return any(word in name for word in (*beside, *of_cells, "run_in_background", "is_background"))


@pytest.mark.parametrize("file", [file for file in FILES if writes(file)], ids=name_of)
def test_a_broken_call_of_a_tool_that_writes_is_refused(file: Path) -> None:
    agent = agent_of(file)
    for what, payload in damaged(payload_in(file)):
        try:
            happening = agent.read(payload, "")
        except Unreadable:
            continue
        if isinstance(happening, Unconcerned):
            assert "Monitor" in file.stem, what  # it may watch something else than a command
            continue
        assert isinstance(happening, AboutToEdit | AboutToRun), what
        assert optional(what) or (isinstance(happening, AboutToEdit) and happening.trouble), what


@given(st.sampled_from(sorted(AGENTS)), st.sampled_from(FILES), st.data())
def test_rubbish_is_read_or_unreadable_and_can_be_refused(name: str, file: Path, data: st.DataObject) -> None:
    payload = payload_in(file)
    for key in data.draw(st.lists(st.sampled_from(sorted(payload)), unique=True)):
        payload[key] = data.draw(json_values)
    agent = AGENTS[name]
    try:
        happening = agent.read(payload, "1:2")
    except Unreadable:
        assert agent.refuse(payload, "why").status == 0
    else:
        assert happening.caller.process == "1:2"
        assert len(happening.caller.holder) <= 200


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_nothing_is_done_in_nobodys_name(name: str) -> None:
    for payload in ({}, {"hook_event_name": "PreToolUse", "event": "before", "toolName": "bash", "toolArgs": {}}):
        with pytest.raises(Unreadable):
            AGENTS[name].read(payload, "")


@pytest.mark.parametrize(
    ("status", "kind"), [("completed", TurnEnded), ("async_launched", SubagentBegan), ("", Unconcerned)]
)
def test_what_a_session_hears_of_a_subagent_tells_how_far_that_is(status: str, kind: type[Happening]) -> None:
    payload = {"session_id": "s", "cwd": "/repo", "hook_event_name": "PostToolUse", "tool_name": "Agent"}
    happening = CLAUDE.read(payload | {"tool_response": {"status": status, "agentId": "a1"}}, "")
    assert (type(happening), happening.caller.holder) == (kind, "claude:s/a1")


@pytest.mark.parametrize("session", ["", "a\nb", "a\x00b", "\u202e", "x" * 91, 7, None])
def test_a_session_whose_name_is_no_name_is_unreadable(session: object) -> None:
    payload = {"hook_event_name": "Stop", "session_id": session, "cwd": "/repo"}
    with pytest.raises(Unreadable):
        CLAUDE.read(payload, "")


@pytest.mark.parametrize(
    ("name", "arguments"), [("Write", {"file_path": "a", "content": ""}), ("Bash", {"command": "ls"})]
)
def test_what_is_done_in_no_folder_is_unreadable(name: str, arguments: dict[str, str]) -> None:
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": name, "tool_input": arguments}
    with pytest.raises(Unreadable, match="in which folder"):
        CLAUDE.read(payload, "")


def test_names_of_holders_have_room_for_the_longest_names() -> None:
    payload = {"hook_event_name": "Stop", "session_id": "s" * 90, "agent_id": "a" * 90}
    assert CLAUDE.read(payload, "").caller.holder == f"claude:{'s' * 90}/{'a' * 90}"


def test_no_session_has_the_name_of_a_part_of_another() -> None:
    named = [("a", "b/c"), ("a/b", "c"), ("a/b/c", ""), ("a%2Fb", "c"), ("a/b/c", "a/b/c")]
    payloads = ({"hook_event_name": "Stop", "session_id": session, "agent_id": part} for session, part in named)
    holders = [CLAUDE.read(payload, "").caller.holder for payload in payloads]
    assert holders[0] == "claude:a/b/c"
    assert holders[2] == holders[4]
    assert len(set(holders)) == len(named) - 1
    with pytest.raises(Unreadable):
        CLAUDE.read({"hook_event_name": "Stop", "session_id": "/" * 31}, "")


def test_parts_of_a_session_and_its_later_runs_are_told_apart() -> None:
    stop = {"hook_event_name": "Stop", "session_id": "s", "cwd": "/repo"}
    callers = [
        CLAUDE.read(stop, "10:1").caller,
        CLAUDE.read(stop, "11:2").caller,
        CLAUDE.read(stop | {"agent_id": "a"}, "10:1").caller,
        CODEX.read(stop, "10:1").caller,
    ]
    assert [caller.holder for caller in callers] == ["claude:s", "claude:s", "claude:s/a", "codex:s"]
    assert len(set(callers)) == len(callers)


def of(agent: str, name: str, **arguments: object) -> Happening:
    """What a tool of an agent that speaks as Claude does is about to do."""
    payload = {"session_id": "s", "conversation_id": "s", "cwd": "/repo", "tool_use_id": "c", "tool_name": name}
    event = "preToolUse" if agent == "cursor" else "PreToolUse"
    return AGENTS[agent].read(payload | {"hook_event_name": event, "tool_input": arguments}, "")


SPOKEN = Manner(ends=Ends.SPOKEN)
PATCHED = Manner(ends=Ends.FIRST, keeps_context=True, reindents=True)


@pytest.mark.parametrize(
    ("happening", "wishes"),
    [
        (of("vscode", "create_file", filePath="/a", content="x"), [Whole("/a", "x")]),
        (
            of("vscode", "replace_string_in_file", filePath="/a", oldString="x", newString=""),
            [Swap("/a", "x", "", manner=SPOKEN)],
        ),
        (
            of(
                "vscode",
                "multi_replace_string_in_file",
                replacements=[
                    {"filePath": "/a", "oldString": "x", "newString": "y"},
                    {"filePath": "/b", "oldString": "y", "newString": "z"},
                ],
            ),
            [Swap("/a", "x", "y", manner=SPOKEN), Swap("/b", "y", "z", manner=SPOKEN)],
        ),
        (
            of("vscode", "apply_patch", input="*** Begin Patch\n*** Delete File: a\n*** End Patch"),
            [Removed("a")],
        ),
        (
            of("vscode", "edit_notebook_file", filePath="/n", editType="delete", cellId="c"),
            [CellEdit("/n", "c", "", Part.DELETE)],
        ),
        (of("cursor", "Write", file_path="/a", contents="x"), [Whole("/a", "x")]),
        (
            of("cursor", "StrReplace", path="/a", old_string="x", new_string="y", replace_all=True),
            [Swap("/a", "x", "y", everywhere=True, manner=SPOKEN)],
        ),
        (of("cursor", "Delete", path="/a"), [Removed("/a")]),
    ],
)
def test_tools_that_are_documented_are_read(happening: Happening, wishes: list[object]) -> None:
    assert isinstance(happening, AboutToEdit)
    assert (list(happening.wishes), happening.trouble, happening.call) == (wishes, "", "c")


@pytest.mark.parametrize(
    "happening",
    [
        of("vscode", "insert_edit_into_file", filePath="/a", code="x"),
        of("vscode", "editFiles", files=["/a"]),
        of("cursor", "EditNotebook", target_notebook="/n"),
        of("claude", "MultiEdit", file_path="/a", edits=[{"old_string": "x", "new_string": "y"}, {}]),
        of("claude", "MultiEdit", file_path="/a", edits={}),
        of("claude", "NotebookEdit", notebook_path="/n", new_source="x", edit_mode="swap"),
        of("codex", "apply_patch", command="*** Begin Patch\n*** Move File: a\n*** End Patch"),
    ],
)
def test_what_does_not_say_what_it_writes_is_in_trouble(happening: Happening) -> None:
    assert isinstance(happening, AboutToEdit)
    assert happening.trouble


@pytest.mark.parametrize(
    ("agent", "payload", "expected"),
    [
        (
            VSCODE,
            {"hook_event_name": "PreToolUse", "tool_name": "run_in_terminal", "tool_input": {"command": "ls", "x": 1}},
            AboutToRun(Caller("vscode", "s"), "/repo", "", "run_in_terminal", "ls"),
        ),
        (
            CURSOR,
            {"hook_event_name": "postToolUse", "tool_name": "Read", "tool_input": {"path": "/a"}},
            HasRead(Caller("cursor", "s"), "/repo", ("/a",)),
        ),
        (
            CURSOR,
            {"hook_event_name": "postToolUseFailure", "tool_name": "Shell", "tool_input": {"command": "ls"}},
            Ran(Caller("cursor", "s"), "/repo", "", "ls", has_failed=True),
        ),
        (
            CURSOR,
            {"hook_event_name": "subagentStart", "subagent_id": "a", "task": "Look"},
            SubagentBegan(Caller("cursor", "s", "a"), "/repo", "Look"),
        ),
        (CURSOR, {"hook_event_name": "sessionStart"}, SessionBegan(Caller("cursor", "s"), "/repo")),
        (CURSOR, {"hook_event_name": "stop"}, TurnEnded(Caller("cursor", "s"), "/repo")),
        (
            CURSOR,
            {"hook_event_name": "beforeSubmitPrompt", "prompt": "Go"},
            PromptGiven(Caller("cursor", "s"), "/repo", "Go"),
        ),
    ],
)
def test_events_that_are_documented_are_read(agent: Any, payload: dict[str, Any], expected: Happening) -> None:
    common = {"session_id": "s", "workspace_roots": ["/repo"]} | ({"cwd": "/repo"} if agent is VSCODE else {})
    assert agent.read(common | payload, "") == expected


def test_vs_code_is_heard_through_the_hooks_of_copilot() -> None:
    arguments = {"filePath": "/a", "content": "x"}
    call = {"cwd": "/repo", "tool_name": "create_file", "tool_input": arguments}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", **call}
    happening = COPILOT.read(payload, "")
    assert happening == VSCODE.read(payload, "")
    assert happening.caller.agent == "vscode"


COPILOT_CALL = {"sessionId": "s", "cwd": "/repo"}


@pytest.mark.parametrize(
    ("name", "arguments", "wishes"),
    [
        ("apply_patch", "*** Begin Patch\n*** Delete File: a\n*** End Patch\n", [Removed("a")]),
        ("create", '{"path": "/a", "file_text": "x"}', [Whole("/a", "x")]),
        ("str_replace_editor", {"command": "create", "path": "/a", "file_text": "x"}, [Whole("/a", "x")]),
        ("str_replace_editor", {"command": "view", "path": "/a"}, []),
    ],
)
def test_copilots_other_ways_to_say_it(name: str, arguments: object, wishes: list[object]) -> None:
    happening = COPILOT.read(COPILOT_CALL | {"toolName": name, "toolArgs": arguments}, "")
    assert isinstance(happening, AboutToEdit)
    assert (list(happening.wishes), happening.trouble) == (wishes, "")


@pytest.mark.parametrize("arguments", ["{", {"command": "insert", "path": "/a"}])
def test_copilots_calls_that_are_not_understood(arguments: object) -> None:
    payload = COPILOT_CALL | {"toolName": "str_replace_editor", "toolArgs": arguments}
    try:
        happening = COPILOT.read(payload, "")
    except Unreadable:
        assert arguments == "{"
    else:
        assert isinstance(happening, AboutToEdit)
        assert happening.trouble


@pytest.mark.parametrize(
    ("command", "cwd"),
    [
        ("apply_patch <<'EOF'\n{}\nEOF", "/repo"),
        ("cd 'src/a b' && apply_patch <<EOF\n{}\nEOF\n", "/repo/src/a b"),
        ('cd .. && applypatch <<"X"\n{}\nX', "/"),
    ],
)
def test_codex_applies_a_patch_itself_that_is_called_in_the_shell(command: str, cwd: str) -> None:
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch"
    happening = of("codex", "Bash", command=command.format(patch))
    assert isinstance(happening, AboutToEdit)
    assert happening.cwd == cwd
    assert [type(wish) for wish in happening.wishes] == [Patched]


@pytest.mark.parametrize("command", ["apply_patch <<'EOF'\nx\nEOF\nrm a", "echo; apply_patch <<'EOF'\nx\nEOF", "ls"])
def test_any_other_command_is_one(command: str) -> None:
    assert isinstance(of("codex", "Bash", command=command), AboutToRun)


def test_an_edit_that_failed_is_told_so() -> None:
    payload = {"session_id": "s", "hook_event_name": "PostToolUseFailure", "tool_name": "Write"}
    happening = CLAUDE.read(payload | {"tool_input": {"file_path": "/a", "content": ""}}, "")
    assert isinstance(happening, Edited)
    assert happening.has_failed


@pytest.mark.parametrize(
    "mark", [{"timestamp": "now"}, {"timestamp": 1, "transcript_path": "/t"}, {"cursor_version": "2"}]
)
def test_what_others_send_to_claudes_hooks_is_none_of_claudes(mark: dict[str, Any]) -> None:
    """Copilot, VS Code and Cursor read its settings as well; they have hooks of their own."""
    payload: dict[str, Any] = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "Bash"}
    payload |= {"tool_input": {"command": "make"}}
    assert isinstance(AGENTS["claude"].read(payload | mark, ""), Unconcerned)
    own = payload | {"permission_mode": "default", "timestamp": 1}
    assert isinstance(AGENTS["claude"].read(own, ""), AboutToRun)


LONG = "x" * 2000
GEMINI = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing\n\n--- FILE CONTENT (truncated) ---\n"


@pytest.mark.parametrize(
    ("agent", "payload", "shown"),
    [
        ("gemini", f"{GEMINI}a\n{LONG}... [truncated]\nb", f"a\n{LONG}{CUT}\nb"),
        ("gemini", "a = 1\nreturn ... [truncated]\n", "a = 1\nreturn ... [truncated]\n"),
        (
            "copilot",
            "a\nb and\n\n[Output truncated. Use view_range=[3, ...] to continue reading. More.]",
            f"a\nb and{CUT}",
        ),
        ("copilot", "a\nb\n\n\n[Output truncated. Use view_range=[3, ...] to continue reading. More.]", "a\nb\n"),
        ("copilot", "a\nFile too large to read at once (1 KB). Consider using grep", None),
        ("opencode", f"{LONG}... (line truncated to 2000 chars)", f"{LONG}{CUT}"),
    ],
)
def test_what_an_agent_puts_around_a_text_is_none_of_the_file(agent: str, payload: str, shown: str | None) -> None:
    happening = AGENTS[agent].read(_reading(agent, payload), "")
    assert isinstance(happening, HasRead)
    assert happening.shown == (payload if shown is None else shown)


def test_geminis_preamble_and_what_it_adds_of_the_project_is_none_of_the_file() -> None:
    tail = "\n\n--- Newly Discovered Project Context ---\nBe brief.\n--- End Project Context ---"
    for said, shown in ((f"{GEMINI}a\n{tail}", "a\n"), (f"a\n{tail}", "a\n"), (f"a{GEMINI}b", f"a{GEMINI}b")):
        happening = AGENTS["gemini"].read(_reading("gemini", said), "")
        assert isinstance(happening, HasRead)
        assert happening.shown == shown
    assert isinstance(AGENTS["gemini"].read(_reading("gemini", GEMINI), ""), Unconcerned)


def _reading(agent: str, said: str) -> dict[str, Any]:
    """What an agent sends that has read a file, with what it has told its model."""
    common: dict[str, Any] = {"session_id": "s", "sessionId": "s", "sessionID": "s", "cwd": "/repo"}
    match agent:
        case "gemini":
            arguments = {"tool_input": {"file_path": "a"}, "tool_response": {"llmContent": said}}
            return common | {"hook_event_name": "AfterTool", "tool_name": "read_file"} | arguments
        case "copilot":
            return common | {"toolName": "view", "toolArgs": {"path": "a"}, "toolResult": {"textResultForLlm": said}}
        case _:
            return common | {"event": "after", "tool": "read", "args": {"filePath": "a"}, "shown": said}
