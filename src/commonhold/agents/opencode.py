"""OpenCode, as our plugin in it reports: `before`, `after` and `failed` of calls, `prompt`, and events of sessions.

The answer is `deny` with the reason, or a `note` for the model.
"""

from collections.abc import Callable, Mapping
from typing import Final

from commonhold.agents.agent import Agent, Payload, Reply, Unreadable
from commonhold.agents.claude_shaped import prompt_given, reply
from commonhold.agents.hook_events import (
    AboutToEdit,
    AboutToRun,
    Ends,
    Happening,
    Manner,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    SubagentBegan,
    TurnEnded,
    Unconcerned,
    told,
)
from commonhold.agents.payloads import caller, shortened, text
from commonhold.agents.tools import Call, Reads, Runs, Tools, about_to, has_done, patch, swap, swaps, whole

NAME: Final = "opencode"
_BEFORE: Final = "before"
_PATH, _OLD, _NEW = ("filePath",), ("oldString",), ("newString",)
_CUT_LINE: Final = "... (line truncated to 2000 chars)"
_SWAPPING: Final = Manner(ends=Ends.SPOKEN)
_WRITING: Final = Manner(keeps_mark=True)
_PATCHING: Final = Manner(keeps_mark=True, heeds_end=False)
_TOOLS: Final[Tools] = {
    "edit": swap(_PATH, _OLD, _NEW, "replaceAll", _SWAPPING),
    "multiedit": swaps("edits", _PATH, _OLD, _NEW, "replaceAll", _SWAPPING),
    "write": whole(_PATH, ("content",), _WRITING),
    "apply_patch": patch(("patchText", ""), _PATCHING),
    "patch": patch(("patchText", ""), _PATCHING),
    "bash": Runs(),
    "read": Reads(_PATH),
}


def _began(call: Call, payload: Payload) -> Happening:
    if call.caller.subagent:
        return SubagentBegan(call.caller, call.cwd, text(payload, "title"))
    return SessionBegan(call.caller, call.cwd)


_EVENTS: Final[Mapping[str, Callable[[Call, Payload], Happening]]] = {
    "session.created": _began,
    "session.idle": lambda call, _: TurnEnded(call.caller, call.cwd),
    "session.deleted": lambda call, _: SessionEnded(call.caller, call.cwd),
    "prompt": lambda call, payload: prompt_given(call, text(payload, "prompt")),
    _BEFORE: lambda call, _: about_to(call, _TOOLS),
    "after": lambda call, _: has_done(call, _TOOLS, has_failed=False),
    "failed": lambda call, _: has_done(call, _TOOLS, has_failed=True),
}


def read(payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable. A subagent is a session that has a parent."""
    event, session, parent = text(payload, "event"), text(payload, "sessionID"), text(payload, "parentID")
    if not event:
        raise Unreadable("it does not name its event")
    by = caller(NAME, parent or session, session if parent else "", process)
    cwd, call_id, tool = (text(payload, name) for name in ("cwd", "callID", "tool"))
    call = Call(by, cwd, call_id, tool, payload.get("args"), shortened(text(payload, "shown"), _CUT_LINE))
    return _EVENTS[event](call, payload) if event in _EVENTS else Unconcerned(by, call.cwd)


def write(happening: Happening, response: Response) -> Reply:
    """Return a response in the format of the plugin."""
    match happening:
        case AboutToEdit() | AboutToRun() if response.stance is Stance.DENY:
            return _denied(response.reason)
        case AboutToEdit() | AboutToRun() | TurnEnded() | SessionEnded():
            return Reply()
        case _:
            note = told(response.reason, response.context)
            return reply({"note": note} if note else {})


def refuse(payload: Payload, why: str) -> Reply:
    """Block a call of a tool; anything else goes on."""
    return _denied(why) if text(payload, "event") in ("", _BEFORE) else Reply(complaint=why)


def _denied(why: str) -> Reply:
    return reply({"deny": why or "Commonhold refused it"})


OPENCODE: Final = Agent(NAME, "OpenCode", read, write, refuse)
