"""OpenAI's responses, as Codex speaks them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.e2e.scripted.conversation import Asked, Entry, Prompt, Result, Said, Turn, Use, asked, call_id, text_of
from tests.e2e.scripted.dialect import Answer, Dialect, streamed, typed, whole

_USAGE: Final = {
    "input_tokens": 10,
    "output_tokens": 5,
    "total_tokens": 15,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def read(body: Mapping[str, Any], _path: str) -> Asked:
    return asked(
        list(_entries(body.get("input") or ())),
        tools=(str(tool.get("name") or tool["type"]) for tool in body.get("tools") or ()),
        body=body,
        streams=bool(body.get("stream")),
    )


def _entries(given: Any) -> Iterator[Entry]:
    if isinstance(given, str):
        yield Prompt(given)
        return
    names: dict[str, str] = {}
    for item in given:
        kind = str(item.get("type", "message"))
        if kind.endswith("_call_output"):
            yield Result(_output(item["output"]), item["call_id"], names.get(item["call_id"], ""))
        elif kind.endswith("_call") and "call_id" in item:
            names[item["call_id"]] = str(item.get("name", kind))
            yield Said(call=item["call_id"], tool=names[item["call_id"]])
        elif kind == "message":
            text = text_of(item["content"])
            yield Said(text) if item["role"] == "assistant" else Prompt(text)


def _output(output: Any) -> str:
    return text_of(output) if isinstance(output, list) else output if isinstance(output, str) else json.dumps(output)


def write(request: Asked, turn: Turn, serial: int) -> Answer:
    items = [_call(use, call_id(serial, len(request.history), index)) for index, use in enumerate(turn.uses)] or [
        _message(turn.text, serial)
    ]
    started = {
        "id": f"resp_{serial}",
        "object": "response",
        "created_at": serial,
        "model": request.model,
        "output": [],
        "status": "in_progress",
    }
    done = {**started, "status": "completed", "output": items, "usage": _USAGE}
    return streamed(_events(started, items, done)) if request.streams else whole(done)


def _call(use: Use, call: str) -> dict[str, Any]:
    item: dict[str, Any] = {"call_id": f"call_{call}", "name": use.tool, "status": "completed"}
    if use.namespace:
        item["namespace"] = use.namespace
    if isinstance(use.input, str):
        return {"type": "custom_tool_call", "id": f"ctc_{call}", "input": use.input, **item}
    return {"type": "function_call", "id": f"fc_{call}", "arguments": json.dumps(use.input), **item}


def _message(text: str, serial: int) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"msg_{serial}", "role": "assistant", "status": "completed", "content": content}


def _events(started: Mapping[str, Any], items: list[dict[str, Any]], done: Mapping[str, Any]) -> Iterator[bytes]:
    yield typed("response.created", response=started)
    for index, item in enumerate(items):
        yield typed("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        yield typed("response.output_item.done", output_index=index, item=item)
    yield typed("response.completed", response=done)


RESPONSES: Final = Dialect("responses", read, write)
