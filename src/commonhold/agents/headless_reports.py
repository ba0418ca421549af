"""The reports of agents that run without a person: the lines of JSON that their programs print, read as they come."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonhold.agents.payloads import mapping, text
from commonhold.kernel.run import NOTHING_USED, TokenUsage

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The content of an agent's report so far: its session's id, its usage, its last message, and its error.

    `is_over`: the agent has reported the end of its turn. Parts that it has not reported are empty.
    """

    session: str = ""
    usage: TokenUsage = NOTHING_USED
    message: str = ""
    error: str = ""
    is_over: bool = False


def report_of(agent: str, lines: Iterable[bytes]) -> AgentReport:
    """Return the report in the lines that the program of an agent has printed. Lines of another form are skipped."""
    report = AgentReport()
    for line in lines:
        report = with_line(agent, report, line)
    return report


def with_line(agent: str, report: AgentReport, line: bytes) -> AgentReport:
    """Return a report with a further line; the same if the line says nothing, or the agent is unknown."""
    read = _READERS.get(agent)
    try:
        event = json.loads(line) if read else None
    except (ValueError, RecursionError):
        return report
    return read(report, event) if read and isinstance(event, dict) else report


def _claude(report: AgentReport, event: Event) -> AgentReport:
    report = replace(report, session=text(event, "session_id") or report.session)
    if event.get("type") != "result":
        return report
    used = mapping(event, "usage")
    usage = TokenUsage(
        _count(used, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        _count(used, "output_tokens"),
        _amount(event, "total_cost_usd"),
    )
    message = text(event, "result")
    error = (message or text(event, "subtype") or "it reported an error") if event.get("is_error") else ""
    return replace(report, usage=usage, message=message or report.message, error=error, is_over=True)


def _codex(report: AgentReport, event: Event) -> AgentReport:
    match event.get("type"):
        case "thread.started":
            return replace(report, session=text(event, "thread_id"))
        case "turn.completed":
            used = mapping(event, "usage")
            usage = TokenUsage(_count(used, "input_tokens"), _count(used, "output_tokens"))
            return replace(report, usage=usage, error="", is_over=True)
        case "turn.failed":
            return replace(report, error=text(mapping(event, "error"), "message") or "its turn failed", is_over=True)
        case "item.completed" if text(mapping(event, "item"), "type") == "agent_message":
            return replace(report, message=text(mapping(event, "item"), "text"))
        case _:
            return report


def _gemini(report: AgentReport, event: Event) -> AgentReport:
    match event.get("type"):
        case "init":
            return replace(report, session=text(event, "session_id"))
        case "message" if event.get("role") == "assistant":
            before = report.message if event.get("delta") else ""
            return replace(report, message=before + text(event, "content"))
        case "tool_use":
            return replace(report, message="")
        case "result":
            used = mapping(event, "stats")
            error = "" if event.get("status") == "success" else text(mapping(event, "error"), "message")
            usage = TokenUsage(_count(used, "input_tokens"), _count(used, "output_tokens"))
            failed = event.get("status") != "success"
            return replace(report, usage=usage, error=error or ("it failed" if failed else ""), is_over=True)
        case _:
            return report


def _opencode(report: AgentReport, event: Event) -> AgentReport:
    report = replace(report, session=text(event, "sessionID") or report.session)
    part = mapping(event, "part")
    match event.get("type"):
        case "text":
            return replace(report, message=text(part, "text"))
        case "step_finish":
            tokens = mapping(part, "tokens")
            cached = mapping(tokens, "cache")
            usage = TokenUsage(
                _count(tokens, "input") + _count(cached, "read", "write"),
                _count(tokens, "output", "reasoning"),
                _amount(part, "cost"),
            )
            return replace(report, usage=report.usage + usage, is_over=text(part, "reason") != "tool-calls")
        case "error":
            error = mapping(event, "error")
            why = text(mapping(error, "data"), "message") or text(error, "name") or "it reported an error"
            return replace(report, error=why, is_over=True)
        case _:
            return report


def _copilot(report: AgentReport, event: Event) -> AgentReport:
    data = mapping(event, "data")
    match event.get("type"):
        case "assistant.message":
            return replace(report, message=text(data, "content") or report.message)
        case "assistant.usage":
            usage = TokenUsage(_count(data, "inputTokens"), _count(data, "outputTokens"))
            return replace(report, usage=report.usage + usage)
        case "session.error":
            return replace(report, error=text(data, "message") or "it reported an error")
        case "result":
            return replace(report, session=text(event, "sessionId"), is_over=True)
        case _:
            return report


def _count(values: Mapping[str, Any], *names: str) -> int:
    """Return the sum of the whole numbers of these names; others count as none."""
    found = (values.get(name) for name in names)
    return sum(each for each in found if type(each) is int and each > 0)


def _amount(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        return 0.0
    return float(value)


_READERS: Final[Mapping[str, Callable[[AgentReport, Event], AgentReport]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
}
