"""Codex CLI."""

import posixpath
from typing import Final

from commonhold.agents import claude_shaped, codex_shell
from commonhold.agents.agent import Agent, Payload
from commonhold.agents.claude_shaped import Dialect
from commonhold.agents.hook_events import Ends, Happening, Manner
from commonhold.agents.patches import called_in_shell
from commonhold.agents.payloads import mapping, text
from commonhold.agents.tools import Runs, Tools, patch

NAME: Final = "codex"
_PATCH: Final = "apply_patch"
_TOOLS: Final[Tools] = {
    _PATCH: patch(("command", "input", ""), Manner(ends=Ends.FIRST, keeps_context=True)),
    "Bash": Runs(),
}
_DIALECT: Final = Dialect(NAME, _TOOLS)


def read(payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable.

    Codex itself applies the patch of a shell command that is nothing but a call of apply_patch: no shell runs it.
    """
    found = called_in_shell(text(mapping(payload, "tool_input"), "command"))
    if found and text(payload, "tool_name") == "Bash":
        folder, document = found
        cwd = posixpath.normpath(posixpath.join(text(payload, "cwd"), folder))
        payload = {**payload, "cwd": cwd, "tool_name": _PATCH, "tool_input": {"command": document}}
    return claude_shaped.read(_DIALECT, payload, process)


CODEX: Final = Agent(
    NAME,
    "Codex CLI",
    read,
    claude_shaped.write,
    claude_shaped.refuse,
    shuts_off_shells=codex_shell.is_in_force,
)
