"""Hooks in the format of Claude Code and its followers: events by name, answers under `hookSpecificOutput`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commonhold.agents.agent import Payload, Reply, Unreadable
from commonhold.agents.hook_events import (
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
from commonhold.agents.payloads import caller, mapping, text
from commonhold.agents.tools import Call, Tools, about_to, has_done

BEFORE: Final = "PreToolUse"
AFTER: Final = "PostToolUse"
AFTER_FAILURE: Final = "PostToolUseFailure"
_OF_THE_PROGRAM: Final = ("<task-notification>", "<system_notification>", "<system-reminder>")
"""Prompts that begin so come from no person, but from the program, about tasks that it has started."""
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
"""The events whose hooks may send context to the model."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences of one program: its name and its tools."""

    agent: str
    tools: Tools


@dataclass(frozen=True, slots=True)
class _Event:
    payload: Payload
    call: Call
    tools: Tools


def read(dialect: Dialect, payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable."""
    event = event_of(payload)
    if not event:
        raise Unreadable("it does not name its event")
    session = text(payload, "session_id", "sessionId")
    by = caller(dialect.agent, session, text(payload, "agent_id", "agentId"), process)
    cwd = text(payload, "cwd")
    if event not in EVENTS:
        return Unconcerned(by, cwd)
    name, arguments = text(payload, "tool_name"), payload.get("tool_input")
    file = mapping(mapping(payload, "tool_response"), "file")
    # The tool shows nothing of a file that ends before the requested lines.
    is_past_end = file.get("numLines") == 0 and file.get("startLine") != 1
    shown = None if is_past_end else text(file, "content")
    call = Call(by, cwd, text(payload, "tool_use_id"), name, arguments, shown)
    return EVENTS[event](_Event(payload, call, dialect.tools))


def write(happening: Happening, response: Response) -> Reply:
    """Return a response in this format. Parts that the format cannot express are left out."""
    answer: dict[str, Any] = {}
    output: dict[str, Any] = {}
    match happening:
        case AboutToEdit() | AboutToRun() if response.stance is Stance.DENY:
            output |= denied(response.reason)
        case Edited() | TurnEnded(may_go_on=True) if response.reason:
            answer |= {"decision": "block", "reason": response.reason}
        case _:
            pass
    if response.context and type(happening) in _CONTEXT_OF:
        output["additionalContext"] = response.context
    if output:
        has_failed = isinstance(happening, Edited | Ran) and happening.has_failed
        event = AFTER_FAILURE if has_failed else _CONTEXT_OF[type(happening)]
        answer["hookSpecificOutput"] = {"hookEventName": event, **output}
    if response.notice:
        answer["systemMessage"] = response.notice
    return reply(answer)


def refuse(payload: Payload, why: str) -> Reply:
    """Block a call of a tool; anything else goes on, and the person sees the reason."""
    if event_of(payload) in ("", BEFORE):
        return reply({"hookSpecificOutput": {"hookEventName": BEFORE, **denied(why)}})
    return reply({"systemMessage": why})


def reply(answer: Mapping[str, Any]) -> Reply:
    """Return the answer as JSON; nothing at all if it says nothing."""
    return Reply(json.dumps(answer).encode()) if answer else Reply()


def event_of(payload: Payload) -> str:
    """Return the name of the event that a payload is about."""
    return text(payload, "hook_event_name", "hookEventName")


def prompt_given(call: Call, prompt: str) -> Happening:
    """Return the happening of a prompt: none if it was not written by a person."""
    if not prompt.strip() or prompt.lstrip().startswith(_OF_THE_PROGRAM):
        return Unconcerned(call.caller, call.cwd)
    return PromptGiven(call.caller, call.cwd, prompt)


def denied(why: str) -> Mapping[str, str]:
    """Return the fields that deny a call of a tool, with the reason."""
    return {"permissionDecision": "deny", "permissionDecisionReason": why or "Commonhold refused it"}


EVENTS: Final[Mapping[str, Callable[[_Event], Happening]]] = {
    "SessionStart": lambda at: SessionBegan(at.call.caller, at.call.cwd),
    "SessionEnd": lambda at: SessionEnded(at.call.caller, at.call.cwd),
    "UserPromptSubmit": lambda at: prompt_given(at.call, text(at.payload, "prompt")),
    "Stop": lambda at: TurnEnded(at.call.caller, at.call.cwd, at.payload.get("stop_hook_active") is False),
    "SubagentStart": lambda at: SubagentBegan(at.call.caller, at.call.cwd),
    "SubagentStop": lambda at: TurnEnded(at.call.caller, at.call.cwd),
    BEFORE: lambda at: about_to(at.call, at.tools),
    AFTER: lambda at: has_done(at.call, at.tools, has_failed=False),
    AFTER_FAILURE: lambda at: has_done(at.call, at.tools, has_failed=True),
}
"""The happening of each event. A subagent that stops may get another prompt, so its turn has ended, not its life."""
