"""Cursor, according to its documentation."""

from collections.abc import Callable, Mapping
from typing import Final

from commonhold.agents.agent import Agent, Payload, Reply, Unreadable
from commonhold.agents.claude_shaped import event_of, prompt_given, reply
from commonhold.agents.hook_events import (
    AboutToEdit,
    AboutToRun,
    Edited,
    Ends,
    Happening,
    HasRead,
    Manner,
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
from commonhold.agents.payloads import caller, text
from commonhold.agents.tools import Call, Reads, Runs, Tools, about_to, has_done, opaque, patch, removal, swap, whole

NAME: Final = "cursor"
_BEFORE: Final = "preToolUse"
_PATH: Final = ("file_path", "path", "target_file")
_SWAP: Final = swap(
    _PATH, ("old_string", "old_str"), ("new_string", "new_str"), "replace_all", Manner(ends=Ends.SPOKEN)
)
_TOOLS: Final[Tools] = {
    "Write": whole(_PATH, ("content", "contents", "file_text")),
    "Edit": _SWAP,
    "StrReplace": _SWAP,
    "Delete": removal(_PATH),
    "ApplyPatch": patch(("patch", "input", "")),
    "EditNotebook": opaque("it does not describe the result in the notebook"),
    "Shell": Runs(),
    "Read": Reads(_PATH),
}
_EVENTS: Final[Mapping[str, Callable[[Call, Payload], Happening]]] = {
    "sessionStart": lambda call, _: SessionBegan(call.caller, call.cwd),
    "sessionEnd": lambda call, _: SessionEnded(call.caller, call.cwd),
    "beforeSubmitPrompt": lambda call, payload: prompt_given(call, text(payload, "prompt")),
    "stop": lambda call, _: TurnEnded(call.caller, call.cwd),
    "subagentStart": lambda call, payload: SubagentBegan(call.caller, call.cwd, text(payload, "task")),
    "subagentStop": lambda call, _: TurnEnded(call.caller, call.cwd),
    _BEFORE: lambda call, _: about_to(call, _TOOLS),
    "postToolUse": lambda call, _: has_done(call, _TOOLS, has_failed=False),
    "postToolUseFailure": lambda call, _: has_done(call, _TOOLS, has_failed=True),
}
_WITH_CONTEXT: Final = (SessionBegan, Edited, HasRead, Ran)


def read(payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable."""
    event = event_of(payload)
    if not event:
        raise Unreadable("it does not name its event")
    session = text(payload, "parent_conversation_id", "conversation_id", "session_id")
    by = caller(NAME, session, text(payload, "subagent_id"), process)
    name, arguments = text(payload, "tool_name"), payload.get("tool_input")
    call = Call(by, _cwd(payload), text(payload, "tool_use_id"), name, arguments)
    return _EVENTS[event](call, payload) if event in _EVENTS else Unconcerned(by, call.cwd)


def write(happening: Happening, response: Response) -> Reply:
    """Return a response in Cursor's format. Parts that it cannot express are left out."""
    if isinstance(happening, AboutToEdit | AboutToRun) and response.stance is Stance.DENY:
        return reply(_denied(response.reason))
    context = told(response.reason, response.context)
    return reply({"additional_context": context} if context and isinstance(happening, _WITH_CONTEXT) else {})


def refuse(payload: Payload, why: str) -> Reply:
    """Block a call of a tool; anything else goes on."""
    return reply(_denied(why)) if event_of(payload) in ("", _BEFORE) else Reply(complaint=why)


def _cwd(payload: Payload) -> str:
    """Return the folder that the agent works in: that of the call, or else the first of the workspace."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return text(payload, "cwd") or first


def _denied(why: str) -> Mapping[str, str]:
    reason = why or "Commonhold refused it"
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


CURSOR: Final = Agent(NAME, "Cursor", read, write, refuse)
