"""Our pieces for the files of a project, agent by agent."""

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Final

from commonhold.agents import codex_shell, gemini_shell, hook_tables, shell_prefix
from commonhold.agents.file_pieces import BlockPiece, FilePiece, JsonPiece, Piece
from commonhold.agents.hook_commands import Ways, is_ours
from commonhold.agents.hook_tables import Hook
from commonhold.agents.json_entries import Entry
from commonhold.agents.marked_block import HASH, MARKDOWN
from commonhold.kernel.texts import counted

NAME: Final = "commonhold"
MCP_JSON: Final = ".mcp.json"
LAUNCHER: Final = "1 launcher"
PLUGIN_MARK: Final = "Made by `commonhold install`, taken out by `commonhold uninstall`."


def claude_command(line: str) -> dict[str, Any]:
    """Return a command of Claude Code: one line, since others that read its settings (Copilot, VS Code) skip `args`."""
    return {"type": "command", "command": line}


def claude_hooks(hook: Hook, call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a hook in Claude Code's settings."""
    failing = {"onFailure": "block"} if hook.gates else {}
    return {**hook.matcher, "hooks": [{**call, "timeout": hook.seconds, **failing}]}


def claude(ways: Ways) -> tuple[Piece, ...]:
    """Return the hooks of Claude Code, by command or over the loopback, and its program in place of a shell."""
    entries = [
        Entry(("hooks", hook.event), claude_hooks(hook, _claude_call(ways, hook))) for hook in hook_tables.CLAUDE
    ]
    programs: list[Piece] = []
    if ways.wrapper:
        entries.append(Entry(("env",), ways.wrapper, shell_prefix.VARIABLE))
        text = shell_prefix.wrapper((ways.python, ways.launch, ways.socket, ways.policy))
        programs.append(FilePiece((shell_prefix.WRAPPER,), text, lambda text: PLUGIN_MARK in text, LAUNCHER))
    settings = JsonPiece((shell_prefix.SETTINGS,), tuple(entries), is_strict=True, holds_secret=ways.link is not None)
    return settings, *programs


def _claude_call(ways: Ways, hook: Hook) -> dict[str, Any]:
    if ways.link is None or hook.event in hook_tables.CLAUDE_WAKING:
        return claude_command(ways.line("claude", hook))
    headers = {"Authorization": f"Bearer {ways.link.token}"}
    return {"type": "http", "url": f"{ways.link.url}/hooks/claude", "headers": headers}


def codex(ways: Ways) -> tuple[Piece, ...]:
    """Return the hooks of the Codex CLI, and the settings that make its shells become our launcher."""

    def group(hook: Hook) -> dict[str, Any]:
        command = {"type": "command", "command": ways.line("codex", hook)}
        return {**hook.matcher, "hooks": [{**command, "timeout": hook.seconds}]}

    entries = tuple(Entry(("hooks", hook.event), group(hook)) for hook in hook_tables.CODEX)
    hooks = JsonPiece((".codex/hooks.json",), entries, is_strict=True, minds_mark=True)
    return (hooks, _codex_shells(ways)) if ways.codex_root else (hooks,)


def _codex_shells(ways: Ways) -> Piece:
    known = {
        "guard": ways.codex_guard,
        "python": ways.python,
        "launcher": ways.launch,
        "socket": ways.socket,
        "when_down": ways.policy,
        "state": ways.state_folder,
        "root": ways.codex_root,
    }
    lines = (f"{name} = {_toml(value)}" for name, value in codex_shell.variables(known).items())
    body = "\n".join(("[shell_environment_policy.set]", *lines))
    return BlockPiece((codex_shell.SETTINGS,), body, codex_shell.MARKS, is_toml=True)


def codex_server(ways: Ways) -> tuple[Piece, ...]:
    """Return the MCP server in the settings of the Codex CLI."""
    command, *arguments = ways.server()
    body = f"[mcp_servers.{NAME}]\ncommand = {_toml(command)}\nargs = {_toml(arguments)}"
    return (BlockPiece((codex_shell.SETTINGS,), body, HASH, is_toml=True),)


def _toml(value: object) -> str:
    """Return a string, or a list of strings, in TOML: for those it reads the same text as JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def gemini(ways: Ways) -> tuple[Piece, ...]:
    """Return the hooks of the Gemini CLI, and the file that its shells read first."""

    def group(hook: Hook) -> dict[str, Any]:
        call = {"name": NAME, "type": "command", "command": ways.line("gemini", hook)}
        return {**hook.matcher, "hooks": [{**call, "timeout": hook.seconds * 1000}]}

    entries = tuple(Entry(("hooks", hook.event), group(hook)) for hook in hook_tables.GEMINI)
    return JsonPiece((".gemini/settings.json",), entries), *_gemini_shell(ways)


def _gemini_shell(ways: Ways) -> tuple[Piece, ...]:
    if ways.bash_env is None:
        return ()
    body = gemini_shell.line(ways.bash_env) if ways.bash_env else ""
    naming = BlockPiece((gemini_shell.ENV_FILE,), body, HASH)
    if not body:
        return (naming,)
    root = ways.bash_env.removesuffix(f"/{gemini_shell.FIRST_READ}")
    text = gemini_shell.first_read((ways.python, ways.launch, ways.socket, ways.policy, root))
    return naming, FilePiece((gemini_shell.FIRST_READ,), text, lambda text: PLUGIN_MARK in text, LAUNCHER)


def opencode(ways: Ways) -> tuple[Piece, ...]:
    """Return the plugin for OpenCode, which asks us as hooks do: one for all that gates, one for the rest."""
    template = files("commonhold.agents").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    made = template.replace('"MARK"', f"// {PLUGIN_MARK}", 1)
    for hook in hook_tables.OPENCODE:
        made = made.replace(f'"{hook.event}"', json.dumps(ways.words("opencode", hook)), 1)
    made = made.replace('"GUARDING"', json.dumps([ways.guard, ways.python, ways.launch, ways.socket, ways.policy]), 1)
    return (FilePiece((".opencode/plugin/commonhold.js",), made, lambda text: PLUGIN_MARK in text, "1 plugin"),)


def copilot(ways: Ways) -> tuple[Piece, ...]:
    """Return the hooks of the Copilot CLI, which VS Code reads as well."""
    hooks: dict[str, list[dict[str, Any]]] = {}
    for hook in hook_tables.COPILOT:
        call = {"type": "command", **hook.matcher, "bash": ways.line("copilot", hook), "timeoutSec": hook.seconds}
        hooks.setdefault(hook.event, []).append(call)
    text = json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
    return (FilePiece((".github/hooks/commonhold.json",), text, _is_our_hooks_file, counted(len(hooks), "hook")),)


def _is_our_hooks_file(text: str) -> bool:
    """Whether a file has hooks, and all of them are ours."""
    try:
        hooks = json.loads(text)["hooks"]
        found = [each for group in hooks.values() for each in group]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    return bool(found) and all(map(is_ours, found))


def cursor(ways: Ways) -> tuple[Piece, ...]:
    """Return the hooks of Cursor."""

    def call(hook: Hook) -> dict[str, Any]:
        closed = {"failClosed": True} if hook.gates else {}
        return {"command": ways.line("cursor", hook), **hook.matcher, "timeout": hook.seconds, **closed}

    entries = tuple(Entry(("hooks", hook.event), call(hook)) for hook in hook_tables.CURSOR)
    return (JsonPiece((".cursor/hooks.json",), entries, alone={"version": 1}),)


def server(path: str, place: str, **more: str) -> Callable[[Ways], tuple[Piece, ...]]:
    """Return the MCP server as a member of the object `place` of a JSON file."""

    def pieces(ways: Ways) -> tuple[Piece, ...]:
        command, *arguments = ways.server()
        entry = Entry((place,), {**more, "command": command, "args": arguments}, NAME)
        return (JsonPiece((path,), (entry,), is_strict=path == MCP_JSON),)

    return pieces


def opencode_server(ways: Ways) -> tuple[Piece, ...]:
    """Return the MCP server in the settings of OpenCode."""
    entry = Entry(("mcp",), {"type": "local", "command": ways.server(), "enabled": True}, NAME)
    return (JsonPiece(("opencode.json", "opencode.jsonc"), (entry,)),)


AGENTS_MD: Final = """\
## Working beside other agents

Several agents may work in this repository at the same time; Commonhold keeps their changes apart.

- Before you begin: `commonhold status` shows all leases and recent changes; `commonhold who PATH` does so for one file.
- Write through it: `base=$(commonhold show PATH#NAME --to FILE)`, change FILE, then
  `commonhold commit --key PATH#NAME --base "$base" --intent "WHY" < FILE`. A refusal says what to do next.
- Name yourself: `export COMMONHOLD_AGENT=NAME`, another name for every session.
- For long work: `commonhold acquire PATH#NAME --task "WHAT"`, and `commonhold release LEASE` when it is done.
- Commonhold also notices files that you write in other ways, notifies the agents concerned, and reverts nothing."""


def agents_md(_: Ways) -> tuple[Piece, ...]:
    """Return a section for agents that have no hooks."""
    return (BlockPiece(("AGENTS.md",), AGENTS_MD, MARKDOWN, is_local=False),)


def nothing(_: Ways) -> tuple[Piece, ...]:
    """Return no pieces."""
    return ()
