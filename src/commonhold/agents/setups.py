"""The agents, as data: which entries in which files let their hooks report to us, and what that gives."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final, NamedTuple

from commonhold.agents.calling import Ways, is_ours
from commonhold.agents.json_entries import Entry
from commonhold.agents.marked_block import HASH, MARKDOWN
from commonhold.agents.pieces import BlockPiece, FilePiece, JsonPiece, Piece
from commonhold.agents.setup import Level, Setup

SECONDS: Final = 5
WAITING_SECONDS: Final = 30
"""A hook before an edit may wait in line; the daemon answers within 25 seconds."""
NAME: Final = "commonhold"
PLUGIN_MARK: Final = "Made by `commonhold install`, taken out by `commonhold uninstall`."


class Hook(NamedTuple):
    """One event that an agent reports: for which tools, and whether it can still be kept from happening."""

    event: str
    tools: str = ""
    gates: bool = False

    @property
    def matcher(self) -> dict[str, str]:
        """What says so in the agent's settings."""
        return {"matcher": self.tools} if self.tools else {}

    @property
    def seconds(self) -> int:
        """How long the agent waits for the answer."""
        return WAITING_SECONDS if self.gates else SECONDS


_CLAUDE_WRITES: Final = "Edit|Write|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell"
CLAUDE: Final = (
    Hook("PreToolUse", _CLAUDE_WRITES, gates=True),
    Hook("PostToolUse", f"{_CLAUDE_WRITES}|Read|Task|Agent"),
    Hook("PostToolUseFailure", _CLAUDE_WRITES),
    *map(Hook, ("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop")),
)
# A hook over HTTP does not fire as a session starts; these two wake the daemon.
CLAUDE_WAKING: Final = frozenset({"SessionStart", "UserPromptSubmit"})
CODEX: Final = (
    Hook("PreToolUse", "apply_patch|Edit|Write|Bash", gates=True),
    Hook("PostToolUse", "apply_patch|Edit|Write|Bash"),
    *map(Hook, ("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop")),
)
_GEMINI_WRITES: Final = "write_file|replace|run_shell_command"
GEMINI: Final = (
    Hook("BeforeTool", _GEMINI_WRITES, gates=True),
    Hook("AfterTool", f"{_GEMINI_WRITES}|read_file|read_many_files"),
    *map(Hook, ("BeforeAgent", "AfterAgent", "SessionStart", "SessionEnd")),
)
# VS Code reads the same file; its tools are the longer names.
_COPILOT_WRITES: Final = (
    "edit|create|str_replace_editor|apply_patch|bash|powershell|"
    "create_file|replace_string_in_file|multi_replace_string_in_file|insert_edit_into_file|edit_notebook_file|"
    "editFiles|run_in_terminal"
)
COPILOT: Final = (
    Hook("preToolUse", _COPILOT_WRITES, gates=True),
    Hook("postToolUse", f"{_COPILOT_WRITES}|view|read_file"),
    Hook("postToolUseFailure", _COPILOT_WRITES),
    *map(Hook, ("sessionStart", "sessionEnd", "userPromptSubmitted", "agentStop", "subagentStart", "subagentStop")),
)
_CURSOR_WRITES: Final = "Write|Edit|StrReplace|Delete|ApplyPatch|EditNotebook|Shell"
CURSOR: Final = (
    Hook("preToolUse", _CURSOR_WRITES, gates=True),
    Hook("postToolUse", f"{_CURSOR_WRITES}|Read"),
    *map(Hook, ("postToolUseFailure", "sessionStart", "sessionEnd", "beforeSubmitPrompt", "stop", "subagentStart")),
    Hook("subagentStop"),
)


def claude_command(words: list[str]) -> dict[str, Any]:
    """A command that Claude Code runs without a shell of its own."""
    return {"type": "command", "command": words[0], "args": words[1:]}


def claude_hooks(hook: Hook, call: Mapping[str, Any]) -> dict[str, Any]:
    """What Claude Code's settings say of a hook."""
    failing = {"onFailure": "block"} if hook.gates else {}
    return {**hook.matcher, "hooks": [{**call, "timeout": hook.seconds, **failing}]}


def _claude(ways: Ways) -> tuple[Piece, ...]:
    entries = tuple(Entry(("hooks", hook.event), claude_hooks(hook, _claude_call(ways, hook))) for hook in CLAUDE)
    return (JsonPiece((".claude/settings.local.json",), entries, holds_secret=ways.link is not None),)


def _claude_call(ways: Ways, hook: Hook) -> dict[str, Any]:
    if ways.link is None or hook.event in CLAUDE_WAKING:
        return claude_command(ways.words("claude", gates=hook.gates, seconds=hook.seconds))
    headers = {"Authorization": f"Bearer {ways.link.token}"}
    return {"type": "http", "url": f"{ways.link.url}/hooks/claude", "headers": headers}


def _codex(ways: Ways) -> tuple[Piece, ...]:
    def group(hook: Hook) -> dict[str, Any]:
        command = {
            "type": "command",
            "command": ways.line("codex", gates=hook.gates, seconds=hook.seconds),
            "timeout": hook.seconds,
        }
        return {**hook.matcher, "hooks": [command]}

    entries = tuple(Entry(("hooks", hook.event), group(hook)) for hook in CODEX)
    return (JsonPiece((".codex/hooks.json",), entries),)


def _codex_server(ways: Ways) -> tuple[Piece, ...]:
    command, *arguments = ways.server()
    body = f"[mcp_servers.{NAME}]\ncommand = {_toml(command)}\nargs = {_toml(arguments)}"
    return (BlockPiece((".codex/config.toml",), body, HASH, is_toml=True),)


def _toml(value: object) -> str:
    """A text, or a list of texts: what JSON writes for those, TOML reads."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _gemini(ways: Ways) -> tuple[Piece, ...]:
    def group(hook: Hook) -> dict[str, Any]:
        call = {"name": NAME, "type": "command", "command": ways.line("gemini", gates=hook.gates, seconds=hook.seconds)}
        return {**hook.matcher, "hooks": [{**call, "timeout": hook.seconds * 1000}]}

    entries = tuple(Entry(("hooks", hook.event), group(hook)) for hook in GEMINI)
    return (JsonPiece((".gemini/settings.json",), entries),)


def _opencode(ways: Ways) -> tuple[Piece, ...]:
    template = files("commonhold.agents").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    made = template.replace('"MARK"', f"// {PLUGIN_MARK}", 1)
    for name, gates, seconds in (("GATING", True, WAITING_SECONDS), ("TELLING", False, SECONDS)):
        made = made.replace(f'"{name}"', json.dumps(ways.words("opencode", gates=gates, seconds=seconds)), 1)
    return (FilePiece((".opencode/plugin/commonhold.js",), made, lambda text: PLUGIN_MARK in text),)


def _copilot(ways: Ways) -> tuple[Piece, ...]:
    hooks = {hook.event: [_copilot_hook(ways, hook)] for hook in COPILOT}
    text = json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
    return (FilePiece((".github/hooks/commonhold.json",), text, _is_our_hooks_file),)


def _copilot_hook(ways: Ways, hook: Hook) -> dict[str, Any]:
    return {
        "type": "command",
        **hook.matcher,
        "bash": ways.line("copilot", gates=hook.gates, seconds=hook.seconds),
        "timeoutSec": hook.seconds,
    }


def _is_our_hooks_file(text: str) -> bool:
    """Whether a file has hooks, and all of them are ours."""
    try:
        hooks = json.loads(text)["hooks"]
        found = [each for group in hooks.values() for each in group]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    return bool(found) and all(map(is_ours, found))


def _cursor(ways: Ways) -> tuple[Piece, ...]:
    def call(hook: Hook) -> dict[str, Any]:
        closed = {"failClosed": True} if hook.gates else {}
        return {
            "command": ways.line("cursor", gates=hook.gates, seconds=hook.seconds),
            **hook.matcher,
            "timeout": hook.seconds,
            **closed,
        }

    entries = tuple(Entry(("hooks", hook.event), call(hook)) for hook in CURSOR)
    return (JsonPiece((".cursor/hooks.json",), entries, alone={"version": 1}),)


def _server(path: str, place: str, **more: str) -> Any:  # noqa: ANN401 - a function of Ways
    def pieces(ways: Ways) -> tuple[Piece, ...]:
        command, *arguments = ways.server()
        entry = Entry((place,), {**more, "command": command, "args": arguments}, NAME)
        return (JsonPiece((path,), (entry,)),)

    return pieces


def _opencode_server(ways: Ways) -> tuple[Piece, ...]:
    entry = Entry(("mcp",), {"type": "local", "command": ways.server(), "enabled": True}, NAME)
    return (JsonPiece(("opencode.json", "opencode.jsonc"), (entry,)),)


AGENTS_MD: Final = """\
## Working beside other agents

Several agents may work in this repository at the same time; Commonhold keeps their changes apart.

- Before you begin: `commonhold status` shows who holds and changes what; `commonhold who PATH` does so for one file.
- Write through it: `base=$(commonhold show PATH#NAME --to FILE)`, change FILE, then
  `commonhold commit --key PATH#NAME --base "$base" --intent "WHY" < FILE`. A refusal says what to do next.
- Name yourself: `export COMMONHOLD_AGENT=NAME`, another name for every session.
- For long work: `commonhold acquire PATH#NAME --task "WHAT"`, and `commonhold release LEASE` when it is done.
- What you write in other ways is seen, told to those whom it concerns, and never reverted."""


def _agents_md(_: Ways) -> tuple[Piece, ...]:
    return (BlockPiece(("AGENTS.md",), AGENTS_MD, MARKDOWN, is_local=False),)


def _none(_: Ways) -> tuple[Piece, ...]:
    return ()


def _all() -> Iterator[Setup]:
    yield Setup(
        "claude",
        "Claude Code",
        ("claude",),
        (".claude", "CLAUDE.md"),
        _claude,
        _server(".mcp.json", "mcpServers"),
        Level.GATED,
        "its hooks decide before an edit, and block where they fail (from Claude Code 2.1.295 on)",
        "start `claude` anew: a session that runs already may not have the hooks",
        blocks_since=(2, 1, 295),
    )
    yield Setup(
        "codex",
        "Codex CLI",
        ("codex",),
        (".codex",),
        _codex,
        _codex_server,
        Level.GATED_OPEN,
        "its hooks decide before an edit; where one fails or takes too long, Codex goes on without it",
        "run `codex` here, trust the folder, and trust these hooks with /hooks: until then Codex leaves them out "
        "without a word",
    )
    yield Setup(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        (".gemini", "GEMINI.md"),
        _gemini,
        _server(".gemini/settings.json", "mcpServers"),
        Level.GATED_OPEN,
        "its hooks decide before an edit; where one crashes or takes too long, Gemini goes on without it",
        "run `gemini` here and trust the folder: it leaves the settings of others out",
    )
    yield Setup(
        "opencode",
        "OpenCode",
        ("opencode",),
        (".opencode", "opencode.json", "opencode.jsonc", ".config/opencode"),
        _opencode,
        _opencode_server,
        Level.GATED,
        "its plugin decides before an edit, and blocks where it fails",
        "start `opencode` anew: it loads plugins as it starts",
    )
    yield Setup(
        "copilot",
        "GitHub Copilot CLI",
        ("copilot",),
        (".copilot", ".github/hooks"),
        _copilot,
        _server(".mcp.json", "mcpServers"),
        Level.GATED_OPEN,
        "its hooks decide before an edit and block where they fail, but not where they take too long",
        "run `copilot` here and trust the folder; for `copilot -p` set GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true",
    )
    yield Setup(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        (".cursor",),
        _cursor,
        _server(".cursor/mcp.json", "mcpServers"),
        Level.GATED,
        "its hooks decide before an edit, and block where they fail (as documented; not tried)",
        "trust the workspace in Cursor, and look at the hooks in its settings",
    )
    yield Setup(
        "vscode",
        "VS Code",
        ("code",),
        (".vscode",),
        _copilot,
        _server(".vscode/mcp.json", "servers", type="stdio"),
        Level.GATED_OPEN,
        "its hooks decide before an edit; what comes of one that fails is not known (as documented; not tried)",
        "trust the workspace in VS Code; it reads the hooks of the Copilot CLI",
    )
    yield Setup(
        "agents-md",
        "AGENTS.md",
        (),
        (),
        _agents_md,
        _none,
        Level.DETECTED,
        "agents without hooks are told how to work here; nothing but the watcher and the merge holds them to it",
        rewrites_shell=False,
    )


SETUPS: Final[Mapping[str, Setup]] = {each.name: each for each in _all()}
