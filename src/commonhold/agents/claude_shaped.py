"""Hooks as Claude Code speaks them, and others after it: events by name, answers under `hookSpecificOutput`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commonhold.agents.agent import Payload, Reply, Unreadable
from commonhold.agents.payloads import caller, mapping, text
from commonhold.agents.tools import Call, Tools, about_to, has_done
from commonhold.app.happenings import (
    AboutToEdit,
    AboutToRun,
    Edited,
    Happening,
    HasRead,
    PromptGiven,
    Ran,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    SubagentBegan,
    TurnEnded,
    Unconcerned,
)

BEFORE: Final = "PreToolUse"
AFTER: Final = "PostToolUse"
AFTER_FAILURE: Final = "PostToolUseFailure"
_OF_THE_PROGRAM: Final = ("<task-notification>", "<system_notification>", "<system-reminder>")
"""Prompts that begin so are no person's, but the program's own news of what it has begun."""
_CONTEXT_OF: Final[Mapping[type[Happening], str]] = {
    SessionBegan: "SessionStart",
    PromptGiven: "UserPromptSubmit",
    SubagentBegan: "SubagentStart",
    AboutToEdit: BEFORE,
    AboutToRun: BEFORE,
    Edited: AFTER,
    HasRead: AFTER,
    Ran: AFTER,
}
"""The events whose hooks may tell the model something."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one program does in its own way: its name and its tools."""

    agent: str
    tools: Tools


@dataclass(frozen=True, slots=True)
class _Event:
    payload: Payload
    call: Call
    tools: Tools


def read(dialect: Dialect, payload: Payload, process: str) -> Happening:
    """What a payload reports. Raises Unreadable."""
    event = event_of(payload)
    if not event:
        raise Unreadable("it does not name its event")
    session = text(payload, "session_id", "sessionId")
    by = caller(dialect.agent, session, text(payload, "agent_id", "agentId"), process)
    cwd = text(payload, "cwd")
    if event not in EVENTS:
        return Unconcerned(by, cwd)
    name, arguments = text(payload, "tool_name"), payload.get("tool_input")
    shown = _shown(mapping(mapping(payload, "tool_response"), "file"))
    call = Call(by, cwd, text(payload, "tool_use_id"), name, arguments, shown)
    return EVENTS[event](_Event(payload, call, dialect.tools))


def _shown(file: Mapping[str, Any]) -> str | None:
    """What was shown of a file; None where it ends before the lines that were asked for."""
    is_past_end = file.get("numLines") == 0 and file.get("startLine") != 1
    return None if is_past_end else text(file, "content")


def write(happening: Happening, response: Response) -> Reply:
    """A response in words of this shape. What it has no words for is left out."""
    answer: dict[str, Any] = {}
    output: dict[str, Any] = {}
    match happening:
        case AboutToEdit() | AboutToRun() if response.stance is Stance.DENY:
            output |= denied(response.reason)
        case Edited() if response.reason:
            answer |= {"decision": "block", "reason": response.reason}
        case _:
            pass
    if response.context and type(happening) in _CONTEXT_OF:
        output["additionalContext"] = response.context
    if output:
        answer["hookSpecificOutput"] = {"hookEventName": _event_of(happening), **output}
    if response.notice:
        answer["systemMessage"] = response.notice
    return reply(answer)


def refuse(payload: Payload, why: str) -> Reply:
    """Block a call of a tool; anything else goes on, and the person is told."""
    if event_of(payload) in ("", BEFORE):
        return reply({"hookSpecificOutput": {"hookEventName": BEFORE, **denied(why)}})
    return reply({"systemMessage": why})


def reply(answer: Mapping[str, Any]) -> Reply:
    """The answer as JSON; nothing at all if it says nothing."""
    return Reply(json.dumps(answer).encode()) if answer else Reply()


def event_of(payload: Payload) -> str:
    """The name of the event that a payload is about."""
    return text(payload, "hook_event_name", "hookEventName")


def prompt_given(call: Call, prompt: str) -> Happening:
    """What a prompt means: nothing, if no person has written it."""
    if not prompt.strip() or prompt.lstrip().startswith(_OF_THE_PROGRAM):
        return Unconcerned(call.caller, call.cwd)
    return PromptGiven(call.caller, call.cwd, prompt)


def denied(why: str) -> Mapping[str, str]:
    """That a tool is not to be called, and why."""
    return {"permissionDecision": "deny", "permissionDecisionReason": why or "Commonhold refused it"}


def _event_of(happening: Happening) -> str:
    match happening:
        case Edited(has_failed=True) | Ran(has_failed=True):
            return AFTER_FAILURE
        case _:
            return _CONTEXT_OF[type(happening)]


EVENTS: Final[Mapping[str, Callable[[_Event], Happening]]] = {
    "SessionStart": lambda at: SessionBegan(at.call.caller, at.call.cwd),
    "SessionEnd": lambda at: SessionEnded(at.call.caller, at.call.cwd),
    "UserPromptSubmit": lambda at: prompt_given(at.call, text(at.payload, "prompt")),
    "Stop": lambda at: TurnEnded(at.call.caller, at.call.cwd),
    "SubagentStart": lambda at: SubagentBegan(at.call.caller, at.call.cwd),
    "SubagentStop": lambda at: TurnEnded(at.call.caller, at.call.cwd),
    BEFORE: lambda at: about_to(at.call, at.tools),
    AFTER: lambda at: has_done(at.call, at.tools, has_failed=False),
    AFTER_FAILURE: lambda at: has_done(at.call, at.tools, has_failed=True),
}
"""What each event is. A subagent that stops may be spoken to again, so its turn has ended and not its life."""
