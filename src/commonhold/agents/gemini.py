"""Gemini CLI."""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final

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
    PromptGiven,
    Ran,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    TurnEnded,
    Unconcerned,
    told,
)
from commonhold.agents.payloads import caller, mapping, shortened, text
from commonhold.agents.tools import Call, Reads, Runs, Tools, about_to, has_done, swap, whole

NAME: Final = "gemini"
_BEFORE: Final = "BeforeTool"
_PATH: Final = ("file_path",)
_HOOK_CONTEXT: Final = re.compile(r"\A(?:\s*<hook_context>.*?</hook_context>\s*)+", re.DOTALL)
"""The output of hooks at the start of a session, in front of the first prompt: no person wrote it."""
_CUT_SHORT: Final = re.compile(
    r"\A\nIMPORTANT: The file content has been truncated\.\n.*?\n--- FILE CONTENT.*?---\n", re.DOTALL
)
"""The notice in front of a part of a file, and in front of long lines that were cut."""
_CONTEXT: Final = re.compile(
    r"\n\n--- Newly Discovered Project Context ---\n.*\n--- End Project Context ---\Z", re.DOTALL
)
"""Instructions for the model, which Gemini adds to a read if the folder has some."""
_CUT_LINE: Final = "... [truncated]"
_SHELL: Final = re.compile(r"\s*(?:\S+/)?(?:sh|bash|zsh)\s+-c\s+", re.IGNORECASE)
_SWAPPING: Final = Manner(ends=Ends.ANY, keeps_last_end=True)
_TOOLS: Final[Tools] = {
    "replace": swap(_PATH, ("old_string",), ("new_string",), "allow_multiple", _SWAPPING),
    "write_file": whole(_PATH, ("content",), Manner(ends=Ends.ANY)),
    "run_shell_command": Runs(),
    "read_file": Reads(_PATH),
}
_EVENTS: Final[Mapping[str, Callable[[Call, Payload], Happening]]] = {
    "SessionStart": lambda call, _: SessionBegan(call.caller, call.cwd),
    "SessionEnd": lambda call, _: SessionEnded(call.caller, call.cwd),
    "BeforeAgent": lambda call, payload: prompt_given(call, _HOOK_CONTEXT.sub("", text(payload, "prompt"))),
    "AfterAgent": lambda call, _: TurnEnded(call.caller, call.cwd),
    _BEFORE: lambda call, _: about_to(call, _TOOLS),
    "AfterTool": lambda call, payload: has_done(
        call, _TOOLS, has_failed=bool(mapping(payload, "tool_response").get("error"))
    ),
}
_CONTEXT_OF: Final[Mapping[type[Happening], str]] = {
    SessionBegan: "SessionStart",
    PromptGiven: "BeforeAgent",
    Edited: "AfterTool",
    HasRead: "AfterTool",
    Ran: "AfterTool",
}


def read(payload: Payload, process: str) -> Happening:
    """Return the happening that a payload reports. Raises Unreadable.

    A subagent's calls look like those of its session.
    """
    event = event_of(payload)
    if not event:
        raise Unreadable("it does not name its event")
    by = caller(NAME, text(payload, "session_id"), "", process)
    shown = _shown(text(mapping(payload, "tool_response"), "llmContent"))
    call = Call(by, text(payload, "cwd"), "", text(payload, "tool_name"), _arguments(payload), shown)
    return _EVENTS[event](call, payload) if event in _EVENTS else Unconcerned(by, call.cwd)


def _arguments(payload: Payload) -> object:
    """Return the arguments of a call, with the command that Gemini will run: it removes a shell around it."""
    arguments = payload.get("tool_input")
    if not isinstance(arguments, Mapping) or not (command := text(arguments, "command")):
        return arguments
    return {**arguments, "command": bare(command) or command}


def bare(command: str) -> str:
    """Return a command without the shell that it is passed to, as in `bash -c '…'`."""
    shell = _SHELL.match(command)
    inner = command[shell.end() :].strip() if shell else command
    if not shell or len(inner) <= 1 or inner[0] != inner[-1] or inner[0] not in "'\"":
        return inner
    try:
        words = shlex.split(inner) if inner[0] == '"' else []
    except ValueError:
        words = []
    return words[0] if len(words) == 1 else inner[1:-1]


def _shown(said: str) -> str | None:
    """Return the part of the model's input that is the content of the file; None if there is none."""
    bare = _CONTEXT.sub("", said)
    head = _CUT_SHORT.match(bare)
    return shortened(bare[head.end() :], _CUT_LINE) or None if head else bare


def write(happening: Happening, response: Response) -> Reply:
    """Return a response in Gemini's format. Parts that it cannot express are left out."""
    answer: dict[str, Any] = {}
    match happening:
        case AboutToEdit() | AboutToRun() if response.stance is Stance.DENY:
            answer |= _denied(response.reason)
        case _ if type(happening) in _CONTEXT_OF:
            # Blocking an action that is done already would hide its result from the model.
            context = told(response.reason, response.context)
            if context:
                output = {"hookEventName": _CONTEXT_OF[type(happening)], "additionalContext": context}
                answer["hookSpecificOutput"] = output
        case _:
            pass
    if response.notice:
        answer["systemMessage"] = response.notice
    return reply(answer)


def refuse(payload: Payload, why: str) -> Reply:
    """Block a call of a tool; anything else goes on, and the person sees the reason."""
    return reply(_denied(why) if event_of(payload) in ("", _BEFORE) else {"systemMessage": why})


def _denied(why: str) -> Mapping[str, str]:
    return {"decision": "deny", "reason": why or "Commonhold refused it"}


GEMINI: Final = Agent(NAME, "Gemini CLI", read, write, refuse)
