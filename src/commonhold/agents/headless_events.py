"""The output of agents that run without a person, as events of one shape: PURE, incremental, and never an exception.

Known agents print lines of JSON (see `headless.HEADLESS`). All else that appears in their output, such as messages on
standard error, is text, and so is the output of all other programs.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from commonhold.agents.payloads import mapping, text
from commonhold.agents.rate_limits import says_limit
from commonhold.kernel.run import NOTHING_USED, TokenUsage

MOST_LINE_BYTES: Final = 8 << 20
"""The longest line that is read; of a longer one only the length is reported."""
MOST_COUNT: Final = 2**53
"""Counts from here on are no counts: other programs could not read them."""
Payload = Mapping[str, Any]


class EventKind(StrEnum):
    """The kinds of events.

    START: the id of its session. TEXT: a message, or output of another form. TOOL_CALL and FILE_CHANGE: the use of a
    tool. USAGE: tokens, in addition to those of earlier events. ERROR, and END of its turn.
    """

    START = "start"
    TEXT = "text"
    TOOL_CALL = "tool_call"
    FILE_CHANGE = "file_change"
    USAGE = "usage"
    ERROR = "error"
    END = "end"


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One event of an agent, from the line at the byte `at`, before `next_at`.

    `text` is the message, the error, or the subject of a tool. A text `is_message` if the agent itself wrote it; one
    that `is_continued` goes on with the one before.
    An error `is_limit` if the agent's account has reached a limit of its provider, until the Unix time `until` if it
    says so by a number. The end `is_success` if the agent reports no failure.
    """

    kind: EventKind
    text: str = ""
    tool: str = ""
    path: str = ""
    usage: TokenUsage = NOTHING_USED
    session: str = ""
    is_message: bool = False
    is_continued: bool = False
    is_limit: bool = False
    until: float | None = None
    is_success: bool = False
    at: int = 0
    next_at: int = 0


class EventParser:
    """Reads the output of one agent, in pieces of any size."""

    def __init__(self, agent: str, at: int = 0) -> None:
        """Read the output of `agent`, the name of a known one or any other text, from the byte `at` on."""
        reader = _READERS.get(agent)
        self._reader = reader() if reader else None
        self._at, self._length, self._held = at, 0, bytearray()

    def feed(self, piece: bytes) -> list[AgentEvent]:
        """Return the events of the lines that this piece of the output ends."""
        events: list[AgentEvent] = []
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._add(line + b"\n")
            events += self._line()
        self._add(rest)
        return events

    def finish(self) -> list[AgentEvent]:
        """Return the events of the last line, if it has no end."""
        return self._line() if self._length else []

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if self._length <= MOST_LINE_BYTES + 1:
            self._held += part
        else:
            self._held.clear()

    def _line(self) -> list[AgentEvent]:
        at, length, line = self._at, self._length, bytes(self._held)
        self._at, self._length = at + length, 0
        self._held.clear()
        found = self._read(line) if length <= MOST_LINE_BYTES + 1 else [_printed(f"(a line of {length:,} bytes)")]
        return [_cleaned(each, at, self._at) for each in found]

    def _read(self, line: bytes) -> list[AgentEvent]:
        if self._reader is not None:
            try:
                payload = json.loads(line)
            except (ValueError, RecursionError):
                payload = None
            if isinstance(payload, dict) and isinstance(payload.get("type"), str):
                return list(self._reader.read(payload))
            if not line.strip():
                return []
        return [_printed(line.decode("utf-8", "replace").rstrip("\r\n"))]


def _clean(words: str) -> str:
    """Return a text that can be encoded: JSON may have halves of characters."""
    return words if words.isascii() else words.encode("utf-8", "backslashreplace").decode()


def _cleaned(event: AgentEvent, at: int, next_at: int) -> AgentEvent:
    """Return an event with its place, and with texts that can be encoded."""
    text, tool, path, session = map(_clean, (event.text, event.tool, event.path, event.session))
    return replace(event, text=text, tool=tool, path=path, session=session, at=at, next_at=next_at)


def _said(words: str) -> AgentEvent:
    """Return a message of the agent."""
    return AgentEvent(EventKind.TEXT, words, is_message=True)


def _printed(words: str) -> AgentEvent:
    """Return output that is no message: a warning, or a line of another form."""
    return AgentEvent(EventKind.TEXT, words)


def _failed(words: str, *, is_limit: bool | None = None, until: float | None = None) -> AgentEvent:
    """Return an error; unless that is known otherwise, its words say whether it is a limit of the account."""
    is_limit = says_limit(words) if is_limit is None else is_limit
    return AgentEvent(EventKind.ERROR, words, is_limit=is_limit, until=until)


def _used(usage: TokenUsage) -> Iterator[AgentEvent]:
    if usage != NOTHING_USED:
        yield AgentEvent(EventKind.USAGE, usage=usage)


_EDITS: Final = frozenset(
    (
        "edit",
        "multiedit",
        "notebookedit",
        "write",
        "replace",
        "write_file",
        "create",
        "str_replace_editor",
        "patch",
        "apply_patch",
    )
)
"""The tools that change files, in small letters, of all known agents."""
_PATHS: Final = ("file_path", "filePath", "notebook_path", "path", "absolute_path", "dir_path")
_SUBJECTS: Final = ("command", "pattern", "query", "url", "description", "prompt", *_PATHS)
"""The arguments that name the subject of a tool, the best first."""


def _call(tool: str, arguments: Payload) -> AgentEvent:
    """Return the use of a tool."""
    path, subject = text(arguments, *_PATHS), text(arguments, *_SUBJECTS)
    changes = tool.lower() in _EDITS and arguments.get("command") != "view"
    return AgentEvent(EventKind.FILE_CHANGE if changes else EventKind.TOOL_CALL, subject, tool, _clean(path))


class _Reader:
    """Reads the lines of one agent; the meaning of a line may depend on earlier ones."""

    def __init__(self) -> None:
        self._session = ""

    def read(self, payload: Payload) -> Iterator[AgentEvent]:
        """Yield the events of a line."""
        raise NotImplementedError

    def _begun(self, session: str) -> Iterator[AgentEvent]:
        if session and session != self._session:
            self._session = session
            yield AgentEvent(EventKind.START, session=_clean(session))


class _Claude(_Reader):
    def __init__(self) -> None:
        super().__init__()
        self._is_limited, self._until = False, 0.0

    def read(self, payload: Payload) -> Iterator[AgentEvent]:
        yield from self._begun(text(payload, "session_id"))
        match payload.get("type"):
            case "assistant":
                self._is_limited = payload.get("error") == "rate_limit"
                content = mapping(payload, "message").get("content")
                for part in content if isinstance(content, list) else ():
                    if isinstance(part, dict) and part.get("type") == "text" and text(part, "text"):
                        yield _said(text(part, "text"))
                    elif isinstance(part, dict) and part.get("type") == "tool_use":
                        yield _call(text(part, "name"), mapping(part, "input"))
            case "rate_limit_event":
                info = mapping(payload, "rate_limit_info")
                self._is_limited = info.get("status") == "rejected"
                self._until = _amount(info, "resetsAt") if self._is_limited else 0.0
            case "result":
                yield from self._result(payload)
            case _:
                pass

    def _result(self, payload: Payload) -> Iterator[AgentEvent]:
        yield from _used(self._usage(payload))
        message, has_failed = text(payload, "result"), bool(payload.get("is_error"))
        if has_failed:
            reasons = payload.get("errors")
            reason = "; ".join(each for each in reasons if isinstance(each, str)) if isinstance(reasons, list) else ""
            why = message or reason or text(payload, "subtype") or "it reported an error"
            is_limit = self._is_limited or payload.get("api_error_status") == _TOO_MANY or says_limit(why)
            yield _failed(why, is_limit=is_limit, until=self._until or None)
        yield AgentEvent(EventKind.END, message, is_success=not has_failed)

    @staticmethod
    def _usage(payload: Payload) -> TokenUsage:
        """Return the usage of all models, which includes subagents; older versions report that of the main agent."""
        models = [each for each in mapping(payload, "modelUsage").values() if isinstance(each, dict)]
        used = mapping(payload, "usage")
        counts = [
            (
                _count(each, "inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens"),
                _count(each, "outputTokens"),
                _count(each, "cacheReadInputTokens"),
            )
            for each in models
        ] or [
            (
                _count(used, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
                _count(used, "output_tokens"),
                _count(used, "cache_read_input_tokens"),
            )
        ]
        tokens_in, tokens_out, cached = (sum(each) for each in zip(*counts, strict=True))
        return TokenUsage(tokens_in, tokens_out, _amount(payload, "total_cost_usd"), cached)


class _Codex(_Reader):
    def read(self, payload: Payload) -> Iterator[AgentEvent]:
        item = mapping(payload, "item")
        match payload.get("type"):
            case "thread.started":
                yield from self._begun(text(payload, "thread_id"))
            case "turn.completed":
                used = mapping(payload, "usage")
                cached = _count(used, "cached_input_tokens")
                yield from _used(TokenUsage(_count(used, "input_tokens"), _count(used, "output_tokens"), 0.0, cached))
                yield AgentEvent(EventKind.END, is_success=True)
            case "turn.failed":
                yield _failed(text(mapping(payload, "error"), "message") or "its turn failed")
                yield AgentEvent(EventKind.END)
            case "error":
                yield _failed(text(payload, "message") or "it reported an error")
            case "item.started" if item.get("type") == "command_execution":
                yield AgentEvent(EventKind.TOOL_CALL, text(item, "command"), "shell")
            case "item.started" if item.get("type") == "mcp_tool_call":
                name = f"{text(item, 'server')}.{text(item, 'tool')}"
                yield AgentEvent(EventKind.TOOL_CALL, text(mapping(item, "arguments"), *_SUBJECTS), name)
            case "item.completed":
                yield from self._completed(item)
            case _:
                pass

    @staticmethod
    def _completed(item: Payload) -> Iterator[AgentEvent]:
        match item.get("type"):
            case "agent_message":
                yield _said(text(item, "text"))
            case "error":  # a warning: the turn goes on
                yield _printed(text(item, "message"))
            case "web_search":
                yield AgentEvent(EventKind.TOOL_CALL, text(item, "query"), "web_search")
            case "file_change":
                changes = item.get("changes")
                for each in changes if isinstance(changes, list) else ():
                    if isinstance(each, dict):
                        path = _clean(text(each, "path"))
                        yield AgentEvent(EventKind.FILE_CHANGE, path, text(each, "kind") or "update", path)
            case _:
                pass


class _Gemini(_Reader):
    def __init__(self) -> None:
        super().__init__()
        self._is_speaking = False

    def read(self, payload: Payload) -> Iterator[AgentEvent]:
        was_speaking, self._is_speaking = self._is_speaking, False
        match payload.get("type"):
            case "init":
                yield from self._begun(text(payload, "session_id"))
            case "message" if payload.get("role") == "assistant":
                self._is_speaking = bool(payload.get("delta"))
                yield replace(_said(text(payload, "content")), is_continued=was_speaking and self._is_speaking)
            case "tool_use":
                yield _call(text(payload, "tool_name"), mapping(payload, "parameters"))
            case "error" if payload.get("severity") == "warning":
                yield _printed(text(payload, "message"))
            case "error":
                yield _failed(text(payload, "message") or "it reported an error")
            case "result":
                used, is_success = mapping(payload, "stats"), payload.get("status") == "success"
                cached = _count(used, "cached")
                yield from _used(TokenUsage(_count(used, "input_tokens"), _count(used, "output_tokens"), 0.0, cached))
                if not is_success:
                    yield self._failure(mapping(payload, "error"))
                yield AgentEvent(EventKind.END, is_success=is_success)
            case _:
                pass

    @staticmethod
    def _failure(error: Payload) -> AgentEvent:
        why, kind = text(error, "message") or "it failed", text(error, "type")
        return _failed(why, is_limit=says_limit(why) or "QuotaError" in kind)


class _Opencode(_Reader):
    def read(self, payload: Payload) -> Iterator[AgentEvent]:
        yield from self._begun(text(payload, "sessionID"))
        part = mapping(payload, "part")
        match payload.get("type"):
            case "text":
                yield _said(text(part, "text"))
            case "tool_use":
                yield _call(text(part, "tool"), mapping(mapping(part, "state"), "input"))
            case "step_finish":
                tokens = mapping(part, "tokens")
                cache = mapping(tokens, "cache")
                tokens_in = _count(tokens, "input") + _count(cache, "read", "write")
                tokens_out, cached = _count(tokens, "output", "reasoning"), _count(cache, "read")
                yield from _used(TokenUsage(tokens_in, tokens_out, _amount(part, "cost"), cached))
                if (reason := text(part, "reason")) != "tool-calls":
                    yield AgentEvent(EventKind.END, is_success=reason == "stop")
            case "error":
                yield self._failure(payload)
                yield AgentEvent(EventKind.END)
            case _:
                pass

    @staticmethod
    def _failure(payload: Payload) -> AgentEvent:
        error = mapping(payload, "error")
        data = mapping(error, "data")
        why = text(data, "message") or text(error, "name") or "it reported an error"
        waits = text(mapping(data, "responseHeaders"), "retry-after")
        at, until = _amount(payload, "timestamp") / 1000, None
        if at and waits.isascii() and waits.isdigit() and len(waits) < _DIGITS:
            until = at + int(waits)
        return _failed(why, is_limit=data.get("statusCode") == _TOO_MANY or says_limit(why), until=until)


class _Copilot(_Reader):
    def read(self, payload: Payload) -> Iterator[AgentEvent]:
        data = mapping(payload, "data")
        match payload.get("type"):
            case "assistant.message":
                if text(data, "content"):
                    yield _said(text(data, "content"))
            case "tool.execution_start":
                yield _call(text(data, "toolName"), mapping(data, "arguments"))
            case "assistant.usage":
                tokens_in, cached = _count(data, "inputTokens"), _count(data, "cacheReadTokens")
                yield from _used(TokenUsage(tokens_in, _count(data, "outputTokens"), 0.0, cached))
            case "session.error":
                why = text(data, "message") or "it reported an error"
                is_limit = data.get("errorType") in ("rate_limit", "quota") or data.get("statusCode") == _TOO_MANY
                yield _failed(why, is_limit=is_limit or says_limit(why))
            case "result":
                yield from self._begun(text(payload, "sessionId"))
                code = payload.get("exitCode")
                yield AgentEvent(EventKind.END, is_success=type(code) is int and code == 0)
            case _:
                pass


def _count(values: Payload, *names: str) -> int:
    """Return the sum of the whole numbers of these names; others count as none."""
    found = (values.get(name) for name in names)
    return sum(each for each in found if type(each) is int and 0 < each < MOST_COUNT)


def _amount(values: Payload, name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_COUNT:
        return 0.0
    return float(value)


_TOO_MANY: Final = 429
"""The status of HTTP by which a service says that there were too many requests."""
_DIGITS: Final = 8
_READERS: Final[Mapping[str, Callable[[], _Reader]]] = {
    "claude": _Claude,
    "codex": _Codex,
    "gemini": _Gemini,
    "opencode": _Opencode,
    "copilot": _Copilot,
}
