"""Claude Code."""

from typing import Final

from commonhold.agents import claude_shaped, shell_prefix
from commonhold.agents.agent import Agent, Payload
from commonhold.agents.claude_shaped import AFTER, Dialect
from commonhold.agents.hook_events import Deleting, Ends, Happening, Manner, SubagentBegan, TurnEnded, Unconcerned
from commonhold.agents.payloads import caller, mapping, text
from commonhold.agents.tools import Reads, Runs, Tools, cell, swap, swaps, whole

NAME: Final = "claude"
_SWAPPING: Final = Manner(ends=Ends.MOST, deleting=Deleting.LINE_END, bends_quotes=True)
_WRITING: Final = Manner(keeps_mark=True)
_PATH, _OLD, _NEW = ("file_path",), ("old_string",), ("new_string",)
_TOOLS: Final[Tools] = {
    "Edit": swap(_PATH, _OLD, _NEW, "replace_all", _SWAPPING),
    "MultiEdit": swaps("edits", _PATH, _OLD, _NEW, "replace_all", _SWAPPING),
    "Write": whole(_PATH, ("content",), _WRITING),
    "NotebookEdit": cell(("notebook_path",), ("cell_id",), ("new_source",), ("edit_mode",), ("cell_type",)),
    "Bash": Runs(),
    "PowerShell": Runs(),
    "Monitor": Runs(may_idle=True),
    "Read": Reads(_PATH),
}
_LAUNCHING: Final = frozenset({"Agent", "Task"})
_DIALECT: Final = Dialect(NAME, _TOOLS)


def read(payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable."""
    if _is_of_another(payload):
        return Unconcerned(caller(NAME, text(payload, "session_id"), "", process), text(payload, "cwd"))
    if text(payload, "tool_name") in _LAUNCHING and claude_shaped.event_of(payload) == AFTER:
        return _delegated(payload, process)
    return claude_shaped.read(_DIALECT, payload, process)


def _delegated(payload: Payload, process: str) -> Happening:
    """Return the happening of a call that starts a subagent: that it has begun, or that it is done."""
    response, cwd = mapping(payload, "tool_response"), text(payload, "cwd")
    part, status = text(response, "agentId"), text(response, "status")
    by = caller(NAME, text(payload, "session_id"), part, process)
    if part and status == "async_launched":
        # Only now are both the subagent and its task known.
        return SubagentBegan(by, cwd, text(mapping(payload, "tool_input"), "prompt", "description"))
    if part and status == "completed":  # the agent's own report, SubagentStop, may have been lost
        return TurnEnded(by, cwd)
    return Unconcerned(by, cwd)


def _is_of_another(payload: Payload) -> bool:
    """Whether another program sent it, which reads the hooks in Claude Code's settings, too: its own hooks report it.

    Copilot and VS Code send a timestamp, and no permission mode; Claude Code sends a permission mode.
    """
    return "cursor_version" in payload or ("timestamp" in payload and "permission_mode" not in payload)


CLAUDE: Final = Agent(
    NAME,
    "Claude Code",
    read,
    claude_shaped.write,
    claude_shaped.refuse,
    shell_prefix.is_in_force,
)
