"""GitHub Copilot CLI. VS Code reads the same file of hooks, and sends its own payloads to them."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from commonhold.agents import claude_shaped, vscode
from commonhold.agents.agent import Agent, Payload, Reply, Unreadable
from commonhold.agents.claude_shaped import denied, prompt_given, reply
from commonhold.agents.hook_events import (
    AboutToEdit,
    AboutToRun,
    Deleting,
    Edited,
    Ends,
    Happening,
    HasRead,
    Manner,
    PromptGiven,
    Ran,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    SubagentBegan,
    TurnEnded,
    Unconcerned,
    told,
)
from commonhold.agents.patches import Asked
from commonhold.agents.payloads import caller, mapping, text
from commonhold.agents.tools import Arguments, Call, Edits, Reads, Runs, Tools, about_to, has_done, patch, swap, whole
from commonhold.reads.partial_reads import CUT

NAME: Final = "copilot"
_PATH: Final = ("path",)
_TOO_LARGE: Final = re.compile(r"File too large to read at once \(.*\)\. Consider using .*")
_CUT_SHORT: Final = re.compile(r"\n\n\[Output truncated\. Use view_range=[^\n]*\]\Z")
"""The notice below a text that was too long and was cut at any place."""
_SWAP: Final = swap(_PATH, ("old_str",), ("new_str",), manner=Manner(ends=Ends.SPOKEN, deleting=Deleting.WHOLE_LINES))
_CREATE: Final = whole(_PATH, ("file_text",))
_COMMANDS: Final[Mapping[str, Edits]] = {
    "str_replace": _SWAP,
    "create": _CREATE,
    "view": Edits(lambda _: Asked(())),
}


def _by_command(arguments: Arguments) -> Asked:
    command = text(arguments, "command")
    if command in _COMMANDS:
        return _COMMANDS[command].asks(arguments)
    return Asked((), f"it edits in a way that is not known: {command!r}; use edit")


_TOOLS: Final[Tools] = {
    "edit": _SWAP,
    "create": _CREATE,
    "str_replace_editor": Edits(_by_command),
    "apply_patch": patch(("", "input", "patch"), Manner(ends=Ends.FIRST, keeps_context=True, reindents=True)),
    "bash": Runs(),
    "powershell": Runs(),
    "view": Reads(_PATH),
}
_WITH_CONTEXT: Final = (SessionBegan, PromptGiven, SubagentBegan, AboutToEdit, AboutToRun, Edited, HasRead, Ran)
_EVENTS: Final[Mapping[str, Callable[[Call, Payload], Happening]]] = {
    "before": lambda call, _: about_to(call, _TOOLS),
    "after": lambda call, _: has_done(call, _TOOLS, has_failed=False),
    "failed": lambda call, _: has_done(call, _TOOLS, has_failed=True),
    "prompt": lambda call, payload: prompt_given(call, text(payload, "prompt")),
    "began": lambda call, _: SessionBegan(call.caller, call.cwd),
    "ended": lambda call, _: SessionEnded(call.caller, call.cwd),
    "subagent ended": lambda call, _: SessionEnded(call.caller, call.cwd),
    "subagent began": lambda call, payload: SubagentBegan(call.caller, call.cwd, text(payload, "agentDescription")),
    "stopped": lambda call, _: TurnEnded(call.caller, call.cwd),
    "other": lambda call, _: Unconcerned(call.caller, call.cwd),
}


def read(payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable.

    A subagent's own calls come under a session of its own, whose id is the subagent's; events about it under its
    parent's.
    """
    if _is_of_vscode(payload):
        return vscode.read(payload, process)
    session, subagent = text(payload, "sessionId"), text(payload, "agentId")
    parent = text(payload, "parentAgentId") if session == subagent else ""
    by = caller(NAME, parent or session, subagent, process)
    cwd, shown = text(payload, "cwd", "workingDirectory"), _shown(mapping(payload, "toolResult"))
    call = Call(by, cwd, "", text(payload, "toolName"), _arguments(payload), shown)
    return _EVENTS[_event(payload)](call, payload)


def _shown(result: Mapping[str, Any]) -> str | None:
    """Return the shown text of a file; None if the result only says that it is too large."""
    said = text(result, "textResultForLlm")
    shown, note = _CUT_SHORT.subn(CUT, said)
    if _TOO_LARGE.fullmatch(said) or shown == CUT:
        return None
    return shown.replace(f"\n{CUT}", "\n") if note else said


def write(happening: Happening, response: Response) -> Reply:
    """Return a response in Copilot's format. Parts that it cannot express are left out."""
    if happening.caller.agent == vscode.NAME:
        return vscode.write(happening, response)
    if isinstance(happening, AboutToEdit | AboutToRun) and response.stance is Stance.DENY:
        return reply(denied(response.reason))
    context = told(response.reason, response.context)
    return reply({"additionalContext": context} if context and isinstance(happening, _WITH_CONTEXT) else {})


def refuse(payload: Payload, why: str) -> Reply:
    """Block a call of a tool; anything else goes on."""
    if _is_of_vscode(payload):
        return claude_shaped.refuse(payload, why)
    return reply(denied(why)) if not payload or _event(payload) == "before" else Reply(complaint=why)


def _is_of_vscode(payload: Payload) -> bool:
    return claude_shaped.event_of(payload) in claude_shaped.EVENTS


def _event(payload: Payload) -> str:
    """Return the event, which a payload does not name: each event has a field that no other has."""
    if "toolName" in payload:
        return "after" if "toolResult" in payload else "failed" if "error" in payload else "before"
    marks = {
        "hook_event_name": "other",
        "prompt": "prompt",
        "source": "began",
        "reason": "ended",
        "response": "subagent ended",
        "agentName": "subagent began",
        "stopReason": "stopped",
    }
    return next((event for mark, event in marks.items() if mark in payload), "other")


def _arguments(payload: Payload) -> object:
    """Return the arguments of a call: an object, or a patch; some versions write the object as text."""
    arguments = payload.get("toolArgs")
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError) as fault:
            raise Unreadable(f"the arguments of its call are no JSON ({fault})") from fault
    return arguments


COPILOT: Final = Agent(NAME, "GitHub Copilot CLI", read, write, refuse)
