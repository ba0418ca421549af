"""Which events of each agent are reported, for which of its tools, and how long it waits for the answer."""

from typing import Final, NamedTuple

SECONDS: Final = 5
WAKING_SECONDS: Final = 15
WAITING_SECONDS: Final = 30
"""A hook before an edit may wait in line; the daemon answers within 25 seconds."""


class Hook(NamedTuple):
    """One event that an agent reports: for which tools, and whether the action can still be blocked.

    A hook that `wakes` may have to start the daemon first.
    """

    event: str
    tools: str = ""
    gates: bool = False
    wakes: bool = False

    @property
    def matcher(self) -> dict[str, str]:
        """Return the entry in the agent's settings that selects the tools."""
        return {"matcher": self.tools} if self.tools else {}

    @property
    def seconds(self) -> int:
        """Return how long the agent waits for the answer."""
        return WAITING_SECONDS if self.gates else WAKING_SECONDS if self.wakes else SECONDS


# The tools of a server are judged by the words of their calls. How agents name such tools was measured with the real
# programs.
_SERVERS: Final = "mcp__.*"
_CLAUDE_WRITES: Final = "Edit|Write|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell"
CLAUDE: Final = (
    Hook("PreToolUse", _CLAUDE_WRITES, gates=True),
    Hook("PreToolUse", _SERVERS, gates=True),
    Hook("PostToolUse", f"{_CLAUDE_WRITES}|Read|Task|Agent"),
    Hook("PostToolUse", _SERVERS),
    Hook("PostToolUseFailure", _CLAUDE_WRITES),
    Hook("PostToolUseFailure", _SERVERS),
    Hook("SessionStart", wakes=True),
    *map(Hook, ("SessionEnd", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop")),
)
# A hook over HTTP does not fire as a session starts; these two wake the daemon.
CLAUDE_WAKING: Final = frozenset({"SessionStart", "UserPromptSubmit"})
CODEX: Final = (
    Hook("PreToolUse", "apply_patch|Edit|Write|Bash", gates=True),
    Hook("PreToolUse", _SERVERS, gates=True),
    Hook("PostToolUse", "apply_patch|Edit|Write|Bash"),
    Hook("PostToolUse", _SERVERS),
    Hook("SessionStart", wakes=True),
    *map(Hook, ("SessionEnd", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop")),
)
_GEMINI_WRITES: Final = "write_file|replace|run_shell_command"
GEMINI: Final = (
    Hook("BeforeTool", _GEMINI_WRITES, gates=True),
    Hook("BeforeTool", "mcp_.*", gates=True),
    Hook("AfterTool", f"{_GEMINI_WRITES}|read_file|read_many_files"),
    Hook("AfterTool", "mcp_.*"),
    Hook("SessionStart", wakes=True),
    *map(Hook, ("BeforeAgent", "AfterAgent", "SessionEnd")),
)
# VS Code reads the same file; its tools are the longer names.
_COPILOT_WRITES: Final = (
    "edit|create|str_replace_editor|apply_patch|bash|powershell|"
    "create_file|replace_string_in_file|multi_replace_string_in_file|insert_edit_into_file|edit_notebook_file|"
    "editFiles|run_in_terminal"
)
_COPILOT_SERVERS: Final = "[^-]+-.+|mcp_.+"
COPILOT: Final = (
    Hook("preToolUse", _COPILOT_WRITES, gates=True),
    Hook("preToolUse", _COPILOT_SERVERS, gates=True),
    Hook("postToolUse", f"{_COPILOT_WRITES}|view|read_file"),
    Hook("postToolUse", _COPILOT_SERVERS),
    Hook("postToolUseFailure", _COPILOT_WRITES),
    Hook("postToolUseFailure", _COPILOT_SERVERS),
    Hook("sessionStart", wakes=True),
    *map(Hook, ("sessionEnd", "userPromptSubmitted", "agentStop", "subagentStart", "subagentStop")),
)
# Not events but the plugin's names for its two ways to ask us.
OPENCODE: Final = (Hook("GATING", gates=True), Hook("TELLING"))
_CURSOR_WRITES: Final = "Write|Edit|StrReplace|Delete|ApplyPatch|EditNotebook|Shell"
CURSOR: Final = (
    Hook("preToolUse", _CURSOR_WRITES, gates=True),
    Hook("preToolUse", "MCP:.*", gates=True),
    Hook("postToolUse", f"{_CURSOR_WRITES}|Read"),
    Hook("postToolUse", "MCP:.*"),
    Hook("sessionStart", wakes=True),
    *map(Hook, ("postToolUseFailure", "sessionEnd", "beforeSubmitPrompt", "stop", "subagentStart", "subagentStop")),
)
