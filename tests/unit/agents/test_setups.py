"""What is installed for each agent: it goes into any file of the user's, works, is known again, and comes out."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.agents.test_json_entries import TEXTS as JSON_TEXTS

from commonhold.agents import claude, codex, copilot, cursor, gemini, opencode, vscode
from commonhold.agents.file_pieces import BlockPiece, FilePiece, JsonPiece, Obstacle, Piece
from commonhold.agents.hook_commands import BLOCKING, BLOCKING_BY_WORD, KNOCK, TELLING, Link, Ways, is_ours, ways_in
from commonhold.agents.hook_tables import CLAUDE, CODEX, COPILOT, CURSOR, GEMINI, Hook
from commonhold.agents.json_entries import InTheWayError
from commonhold.agents.registry import AGENTS
from commonhold.agents.setups import SETUPS
from commonhold.agents.tools import Reads, Tools

ODD = '/odd path/it\'s $HOME `x` "é"/bin/python'
WAYS = Ways(ODD, f"/odd path/lib/{KNOCK}", "/tmp/it's/http.sock")  # noqa: S108 - never opened
WRAPPED = replace(WAYS, wrapper="/odd path/it's/.claude/commonhold-shell", codex_root="/odd path/it's")
LINKED = replace(WAYS, link=Link("http://127.0.0.1:4711", "c0ffee"))
FOLDER = Path(__file__).parents[3] / "src" / "commonhold" / "agents"


def pieces() -> Iterator[tuple[str, Piece]]:
    for setup in SETUPS.values():
        for ways in (WAYS, LINKED, WRAPPED):
            yield from ((setup.name, piece) for piece in (*setup.hooks(ways), *setup.servers(ways)))


def test_every_agent_with_an_adapter_can_be_installed() -> None:
    assert set(SETUPS) == {*AGENTS, "agents-md"}


@pytest.mark.parametrize(("name", "piece"), list(pieces()))
def test_a_piece_makes_its_file_and_takes_it_away(name: str, piece: Piece) -> None:
    made = piece.put(None)
    assert made is not None, name
    assert piece.put(made) == made
    assert piece.trouble(made) == ""
    assert piece.trouble(None)
    assert piece.take(made) is None


@examples(0.15)
@given(JSON_TEXTS, st.sampled_from([piece for _, piece in pieces() if isinstance(piece, JsonPiece)]))
def test_a_users_json_is_as_it_was_afterwards(text: str, piece: JsonPiece) -> None:
    try:
        made = piece.put(text)
    except Obstacle as fault:
        is_loose = piece.is_strict and not is_plain(text)
        if not is_loose and not isinstance(fault.__cause__, InTheWayError):
            raise
        return
    assert made is not None
    assert piece.put(made) == made
    assert piece.take(made) == text


def is_plain(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_a_byte_order_mark_is_in_the_way_of_whom_it_puts_off() -> None:
    (claude,), (codex,) = SETUPS["claude"].hooks(WAYS), SETUPS["codex"].hooks(WAYS)
    made = claude.put("\ufeff{}")
    assert made is not None
    assert (claude.trouble(made), claude.take(made)) == ("", "\ufeff{}")
    with pytest.raises(Obstacle):
        codex.put("\ufeff{}")


@pytest.mark.parametrize("text", ["{} // mine", '{"a": 1,}', '{"a": NaN}', '{"a": [-Infinity]}'])
def test_a_file_that_its_agent_would_leave_out_is_not_taken_for_installed(text: str) -> None:
    (plain,), (loose,) = SETUPS["claude"].hooks(WAYS), SETUPS["gemini"].hooks(WAYS)
    with pytest.raises(Obstacle, match="not plain JSON"):
        plain.put(text)
    made = loose.put(text)
    assert loose.trouble(made) == ""
    assert "not plain JSON" in plain.trouble(f"{plain.put('{}')} // mine")


TOML = st.lists(
    st.sampled_from(
        ["# mine\n", "a = 1 # why\n", "\n", "[b]\n", "c = '''\n[x]\n'''\n", "[d.e]\nf = [\n 1, # one\n]\n"]
    ),
    unique=True,
).map("".join)


@given(TOML, st.booleans())
def test_a_users_toml_is_as_it_was_afterwards(text: str, ends_early: bool) -> None:  # noqa: FBT001 - drawn
    text = text.rstrip("\n") if ends_early else text
    (piece,) = SETUPS["codex"].servers(WAYS)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    made = piece.put(text)
    assert made is not None
    server = {"command": ODD, "args": ["-P", "-m", "commonhold", "mcp"]}
    assert tomllib.loads(made) == before | {"mcp_servers": {"commonhold": server}}
    assert piece.take(made) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("codex", "[mcp_servers.commonhold]\ncommand = 'mine'\n"),
        ("codex", "mcp_servers = {}\n"),
        ("codex", "no toml"),
        ("claude", "{"),
        ("claude", '{"mcpServers": 1}'),
        ("cursor", "[]"),
    ],
)
def test_a_file_that_cannot_take_it_is_told_of(name: str, text: str) -> None:
    (piece,) = SETUPS[name].servers(WAYS)
    with pytest.raises(Obstacle):
        piece.put(text)
    assert isinstance(piece, BlockPiece) or piece.trouble(text)


@pytest.mark.parametrize("name", ["opencode", "copilot"])
@pytest.mark.parametrize("text", ["", "{}", '{"hooks": {"preToolUse": [{"bash": "mine"}]}}', '{"hooks": []}', "1"])
def test_a_file_of_that_name_that_is_not_ours_stays(name: str, text: str) -> None:
    (piece,) = SETUPS[name].hooks(WAYS)
    assert isinstance(piece, FilePiece)
    with pytest.raises(Obstacle):
        piece.put(text)
    assert piece.take(text) == text


def test_a_server_of_the_users_under_our_name_stays() -> None:
    text = '{"mcpServers": {"commonhold": {"command": "commonhold", "args": ["mcp"]}}}'
    (piece,) = SETUPS["claude"].servers(WAYS)
    assert piece.put(text) == piece.take(text) == text
    assert piece.left_out(text) == ("mcpServers.commonhold",)


def test_what_another_installation_put_in_is_replaced() -> None:
    other = replace(WAYS, python="/elsewhere/python", hook_program=f"/elsewhere/{KNOCK}", policy="allow")
    for setup in SETUPS.values():
        for old, new in zip(setup.hooks(other), setup.hooks(WAYS), strict=True):
            assert new.put(old.put(None)) == new.put(None)
            assert setup.name == "agents-md" or new.trouble(old.put(None))


def test_hooks_over_http_and_by_command_take_each_others_place() -> None:
    (linked,), (plain,) = SETUPS["claude"].hooks(LINKED), SETUPS["claude"].hooks(WAYS)
    assert linked.holds_secret
    assert not plain.holds_secret
    assert plain.put(linked.put("{}")) == plain.put("{}")
    assert linked.take(plain.put("{}")) == "{}"
    made = json.loads(linked.put(None) or "")
    kinds = {event: group[0]["hooks"][0]["type"] for event, group in made["hooks"].items()}
    assert {event for event, kind in kinds.items() if kind == "command"} == {"SessionStart", "UserPromptSubmit"}


def test_who_is_called_can_be_read_from_what_is_installed() -> None:
    for setup in SETUPS.values():
        for piece in setup.hooks(WAYS):
            assert set(ways_in(piece.put(None) or "")) == ({WAYS} if setup.name != "agents-md" else set())


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"hooks": []},
        {"hooks": [{"command": "mine"}]},
        {"command": "commonhold", "args": ["mcp"]},
        {"hooks": [{"command": "/bin/sh", "args": ["-c", KNOCK]}, {"command": "mine"}]},
        {"url": "http://127.0.0.1:80/hooks/claude?x"},
        [KNOCK],
        KNOCK,
        None,
    ],
)
def test_what_is_not_ours_is_not_taken_for_it(value: Any) -> None:
    assert not is_ours(value)


def matched(hooks: tuple[Hook, ...], event: str) -> set[str]:
    return {tool for hook in hooks if hook.event == event for tool in hook.tools.split("|")}


ADAPTERS: list[tuple[str, tuple[Hook, ...], str, str, Tools]] = [
    ("claude", CLAUDE, "PreToolUse", "PostToolUse", claude._TOOLS),
    ("codex", CODEX, "PreToolUse", "PostToolUse", codex._TOOLS),
    ("gemini", GEMINI, "BeforeTool", "AfterTool", gemini._TOOLS),
    ("copilot", COPILOT, "preToolUse", "postToolUse", {**copilot._TOOLS, **vscode._TOOLS}),
    ("cursor", CURSOR, "preToolUse", "postToolUse", cursor._TOOLS),
]


@pytest.mark.parametrize(("name", "hooks", "before", "after", "tools"), ADAPTERS)
def test_hooks_fire_for_every_tool_that_the_adapter_knows(
    name: str, hooks: tuple[Hook, ...], before: str, after: str, tools: Tools
) -> None:
    writing = {tool for tool, what in tools.items() if not isinstance(what, Reads)}
    assert writing <= matched(hooks, before), name
    assert set(tools) <= matched(hooks, after), name
    assert {hook.event for hook in hooks if hook.gates} == {before}


SERVED = [
    ("claude", CLAUDE, "PreToolUse", "PostToolUse", "mcp__files__write_file"),
    ("codex", CODEX, "PreToolUse", "PostToolUse", "mcp__files__write_file"),
    ("gemini", GEMINI, "BeforeTool", "AfterTool", "mcp_files_write_file"),
    ("copilot", COPILOT, "preToolUse", "postToolUse", "files-write_file"),
    ("vscode", COPILOT, "preToolUse", "postToolUse", "mcp_files_write_file"),
    ("cursor", CURSOR, "preToolUse", "postToolUse", "MCP:write_file"),
]


@pytest.mark.parametrize(("name", "hooks", "before", "after", "tool"), SERVED)
def test_hooks_fire_for_tools_that_servers_offer(
    name: str, hooks: tuple[Hook, ...], before: str, after: str, tool: str
) -> None:
    for event in (before, after):
        assert any(re.fullmatch(hook.tools, tool) for hook in hooks if hook.event == event), (name, event)
    assert all(hook.gates for hook in hooks if hook.event == before), name


def test_the_plugin_of_opencode_asks_about_every_tool_that_the_adapter_knows() -> None:
    plugin = (FOLDER / "opencode_plugin.js").read_text(encoding="utf-8")
    for tool, what in opencode._TOOLS.items():
        kind = "READING" if isinstance(what, Reads) else "WRITING"
        (line,) = [line for line in plugin.splitlines() if line.startswith(f"const {kind}")]
        assert f'"{tool}"' in line


def run(guard: str, python: Path, knock: Path) -> subprocess.CompletedProcess[str]:
    words = ["/bin/sh", "-c", guard, str(python), str(knock), "claude", "socket"]
    return subprocess.run(words, check=False, capture_output=True, text=True, input="payload")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter that tells how it is called."""
    made = tmp_path / "it's a python"
    made.write_text('#!/bin/sh\necho "$@"; cat; exit 2\n', encoding="utf-8")
    made.chmod(0o755)
    return made


def test_a_hook_that_gates_gives_back_what_its_program_says(python: Path, tmp_path: Path) -> None:
    (tmp_path / "hook_program.py").touch()
    done = run(BLOCKING, python, tmp_path / "hook_program.py")
    assert (done.returncode, done.stdout) == (2, f"-I -S {tmp_path}/hook_program.py claude socket\npayload")
    assert run(TELLING, python, tmp_path / "hook_program.py").returncode == 1


def test_a_hook_whose_interpreter_or_program_is_gone_blocks_and_says_what_to_do(python: Path, tmp_path: Path) -> None:
    for lost in ((tmp_path / "gone", python), (python, tmp_path / "gone")):
        done = run(BLOCKING, *lost)
        assert (done.returncode, done.stdout) == (2, "")
        assert "commonhold install" in done.stderr
        for guard in BLOCKING_BY_WORD.values():
            done = run(guard, *lost)
            assert (done.returncode, done.stderr) == (0, "")
            answer = json.loads(done.stdout)
            assert answer.get("hookSpecificOutput", answer)["permissionDecision"] == "deny"
        assert run(TELLING, *lost).returncode == 1


def test_the_copilot_cli_is_told_in_its_own_words(tmp_path: Path) -> None:
    lost = replace(WAYS, python=str(tmp_path / "gone"))
    line = lost.line("copilot", Hook("preToolUse", gates=True))
    done = subprocess.run(["bash", "-c", line], check=False, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["permissionDecision"]) == (0, "deny")
    assert "commonhold install" in answer["permissionDecisionReason"]


def test_a_line_is_the_words_whatever_is_in_them() -> None:
    hook = Hook("PreToolUse", gates=True)
    words = WAYS.words("codex", hook)
    assert shlex.split(WAYS.line("codex", hook)) == ["exec", *words]
    assert words[-1] == "28"


def test_the_section_for_agents_without_hooks_is_the_same_everywhere() -> None:
    (piece,) = SETUPS["agents-md"].hooks(WAYS)
    assert not piece.is_local
    made = piece.put("# Mine\n") or ""
    assert os.sep + "odd path" not in made
    assert len(made.splitlines()) < 20
    assert piece.take(made) == "# Mine\n"
