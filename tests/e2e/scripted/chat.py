"""OpenAI's chat completions, as OpenCode, Copilot, Aider and mini-swe-agent speak them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.e2e.scripted.conversation import Asked, Entry, Prompt, Result, Said, Turn, asked, call_id, text_of
from tests.e2e.scripted.dialect import Answer, Dialect, event, streamed, whole

_USAGE: Final = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def read(body: Mapping[str, Any], _path: str) -> Asked:
    return asked(
        list(_entries(body)),
        tools=(str(tool.get("function", tool).get("name")) for tool in body.get("tools") or ()),
        body=body,
        streams=bool(body.get("stream")),
    )


def _entries(body: Mapping[str, Any]) -> Iterator[Entry]:
    names: dict[str, str] = {}
    for message in body.get("messages", ()):
        text = text_of(message.get("content"))
        if message["role"] == "tool":
            call = str(message["tool_call_id"])
            yield Result(text, call, names.get(call, ""))
        elif message["role"] == "user":
            yield Prompt(text)
        elif message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            names |= {call["id"]: call["function"]["name"] for call in calls}
            yield from (Said(call=call["id"], tool=names[call["id"]]) for call in calls)
            if not calls:
                yield Said(text)


def write(request: Asked, turn: Turn, serial: int) -> Answer:
    calls = [
        {
            "index": index,
            "id": f"call_{call_id(serial, len(request.history), index)}",
            "type": "function",
            "function": {"name": use.tool, "arguments": json.dumps(use.input)},
        }
        for index, use in enumerate(turn.uses)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else turn.text}
    if calls:
        message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    base = {"id": f"chatcmpl-{serial}", "created": serial, "model": request.model}
    if request.streams:
        return streamed(_events(base | {"object": "chat.completion.chunk"}, message, finish))
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return whole(base | {"object": "chat.completion", "choices": [choice], "usage": _USAGE})


def _events(base: Mapping[str, Any], message: Mapping[str, Any], finish: str) -> Iterator[bytes]:
    yield event({**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]})
    yield event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    yield event({**base, "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


CHAT: Final = Dialect("chat", read, write)
