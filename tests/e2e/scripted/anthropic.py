"""Anthropic's messages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.e2e.scripted.conversation import Asked, Entry, Prompt, Result, Said, Turn, asked, call_id, text_of
from tests.e2e.scripted.dialect import Answer, Dialect, streamed, typed, whole

_USAGE: Final = {
    "input_tokens": 10,
    "output_tokens": 1,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}


def read(body: Mapping[str, Any], _path: str) -> Asked:
    return asked(
        list(_entries(body)),
        tools=(str(tool["name"]) for tool in body.get("tools") or ()),
        body=body,
        streams=bool(body.get("stream")),
    )


def _entries(body: Mapping[str, Any]) -> Iterator[Entry]:
    names: dict[str, str] = {}
    for message in body.get("messages", ()):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
                yield Said(call=block["id"], tool=block["name"])
            elif block["type"] == "tool_result":
                yield _result(block, names)
            elif block["type"] == "text":
                yield Said(block["text"]) if message["role"] == "assistant" else Prompt(block["text"])


def _result(block: Mapping[str, Any], names: Mapping[str, str]) -> Result:
    call = str(block["tool_use_id"])
    return Result(text_of(block.get("content")), call, names.get(call, ""), bool(block.get("is_error")))


def write(request: Asked, turn: Turn, serial: int) -> Answer:
    blocks = [
        {
            "type": "tool_use",
            "id": f"toolu_{call_id(serial, len(request.history), index)}",
            "name": use.tool,
            "input": use.input,
        }
        for index, use in enumerate(turn.uses)
    ] or [{"type": "text", "text": turn.text}]
    stop = "tool_use" if turn.uses else "end_turn"
    message = {
        "id": f"msg_{serial}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _USAGE,
    }
    return streamed(_events(message, blocks, stop)) if request.streams else whole(message)


def _events(message: Mapping[str, Any], blocks: list[dict[str, Any]], stop: str) -> Iterator[bytes]:
    yield typed("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(blocks):
        yield from _block_events(index, block)
    yield typed("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 5})
    yield typed("message_stop")


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[bytes]:

    start: dict[str, Any]
    if block["type"] == "text":
        start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield typed("content_block_start", index=index, content_block=start)
    yield typed("content_block_delta", index=index, delta=delta)
    yield typed("content_block_stop", index=index)


MESSAGES: Final = Dialect("anthropic", read, write)
