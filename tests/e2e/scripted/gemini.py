"""Gemini's generateContent, which knows calls by their place, not by an id."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.e2e.scripted.conversation import Asked, Entry, Prompt, Result, Said, Turn, asked
from tests.e2e.scripted.dialect import Answer, Dialect, event, streamed, whole


def read(body: Mapping[str, Any], path: str) -> Asked:
    return asked(
        list(_entries(body)),
        tools=(
            str(function["name"])
            for tool in body.get("tools") or ()
            for function in tool.get("functionDeclarations") or ()
        ),
        body={"model": path.rpartition("/")[2].partition(":")[0], **body},
        streams="stream" in path,
    )


def _entries(body: Mapping[str, Any]) -> Iterator[Entry]:
    for content in body.get("contents", ()):
        for part in content.get("parts", ()):
            if "functionResponse" in part:
                answered = part["functionResponse"]
                yield Result(_told(answered.get("response")), tool=str(answered.get("name", "")))
            elif "functionCall" in part:
                yield Said(tool=str(part["functionCall"]["name"]))
            elif "text" in part:
                yield Said(part["text"]) if content.get("role") == "model" else Prompt(part["text"])


def _told(response: Any) -> str:
    """Its one text where there is one, else all of it."""
    texts = list(response.values()) if isinstance(response, Mapping) else []
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else json.dumps(response)


def write(request: Asked, turn: Turn, _serial: int) -> Answer:
    parts: list[dict[str, Any]] = [{"functionCall": {"name": use.tool, "args": use.input}} for use in turn.uses]
    answer = {
        "candidates": [
            {
                "content": {"role": "model", "parts": parts or [{"text": turn.text}]},
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": request.model,
    }
    return streamed([event(answer)]) if request.streams else whole(answer)


GEMINI: Final = Dialect("gemini", read, write, aside="{}")
