"""Payloads that real agents sent, and how a test speaks of what they mean."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commonhold.agents.agent import Agent
from commonhold.agents.hook_events import (
    AboutToEdit,
    AboutToRun,
    Caller,
    CellEdit,
    Edited,
    Happening,
    IntendedWrite,
    Patched,
    Ran,
    Removed,
    Somehow,
    Swap,
    Whole,
)
from commonhold.agents.registry import AGENTS

PAYLOADS = Path(__file__).parents[2] / "agents" / "payloads"
FILES = sorted(PAYLOADS.glob("*/*.json"))


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def agent_of(file: Path) -> Agent:
    return AGENTS[file.parent.name]


def payload_in(file: Path) -> dict[str, Any]:
    """The payload as it comes to us: OpenCode's goes through our plugin in it."""
    payload: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return posted(payload) if file.parent.name == "opencode" else payload


def posted(raised: dict[str, Any]) -> dict[str, Any]:
    """What our plugin posts of what OpenCode calls it with."""
    given, made = raised.get("input", {}), raised.get("output", {})
    common = {"sessionID": given.get("sessionID"), "parentID": "", "cwd": "/repo"}
    match raised["hook"]:
        case "tool.execute.before":
            return common | {"event": "before", **given, "args": made["args"]}
        case "tool.execute.after":
            return common | {
                "event": "after",
                **given,
                "shown": made.get("metadata", {}).get("display", {}).get("text"),
            }
        case "chat.message":
            return common | {"event": "prompt", "prompt": made["parts"][0]["text"]}
        case _:
            return posted_event(raised)


def posted_event(raised: dict[str, Any]) -> dict[str, Any]:
    if raised["hook"] != "event":
        return {"event": raised["hook"], "sessionID": raised["input"]["sessionID"], "cwd": "/repo"}
    properties = raised["event"]["properties"]
    info = properties.get("info", {})
    session = properties.get("sessionID", "ses_none")
    event = {"event": raised["event"]["type"], "sessionID": session, "parentID": info.get("parentID", "")}
    return event | {"cwd": "/repo", "title": info.get("title", "")}


def told_of(happening: Happening) -> str:
    """The happening in a line, without the folder, which is `/repo` in all of them."""
    assert happening.cwd == "/repo"
    return f"{_who(happening.caller)} {_what(happening)}".replace("00000000-0000-4000-8000-0000000000", "id-")


def _who(caller: Caller) -> str:
    return caller.holder.replace("ses_000000000000000000000000", "ses-").replace("a00000000000000", "a-")


def _what(happening: Happening) -> str:
    match happening:
        case AboutToEdit(_, _, call, tool, wishes, trouble):
            return f"about to edit by {tool} ({call}): {trouble or _wishes(wishes)}"
        case Edited(_, _, call, tool, wishes, has_failed):
            return f"{'failed to edit' if has_failed else 'edited'} by {tool} ({call}): {_wishes(wishes)}"
        case AboutToRun(_, _, call, tool, command):
            return f"about to run by {tool} ({call}): {command!r}"
        case Ran(_, _, call, command, has_failed):
            return f"{'failed' if has_failed else 'ran'} ({call}): {command!r}"
        case _:
            fields = {name: getattr(happening, name) for name in happening.__match_args__[2:]}
            return f"{type(happening).__name__} {fields or ''}".rstrip()


def _wishes(wishes: Sequence[IntendedWrite]) -> str:
    return "; ".join(_wish(wish) for wish in wishes)


def _wish(wish: IntendedWrite) -> str:
    match wish:
        case Swap(path, old, new, everywhere):
            return f"{path}: {old!r} to {new!r}{' everywhere' if everywhere else ''}"
        case Whole(path, content):
            return f"{path}: all {content!r}"
        case CellEdit(path, name, source, part, kind):
            return f"{path}: {part} {name!r} {kind} {source!r}"
        case Patched(path, hunks, to):
            changes = ", ".join(f"{list(hunk.anchors)} {list(hunk.before)} to {list(hunk.after)}" for hunk in hunks)
            return f"{path}: {changes}{' and moves to ' + to if to else ''}"
        case Removed(path):
            return f"{path}: gone"
        case Somehow(path):
            return f"{path}: somehow"
