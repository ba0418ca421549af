"""The reports of agents that run without a person: the events in their output, added up."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import BinaryIO, Final

from commonhold.agents.headless_events import AgentEvent, EventKind, EventParser
from commonhold.kernel.run import NOTHING_USED, TokenUsage

_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The content of an agent's report so far: its session's id, its usage, its last message, and its error.

    `is_over`: the agent has reported the end of its turn. Parts that it has not reported are empty. `limit` is the
    error after which it did nothing more, if its account has reached a limit.
    """

    session: str = ""
    usage: TokenUsage = NOTHING_USED
    message: str = ""
    error: str = ""
    is_over: bool = False
    limit: AgentEvent | None = None


def report_of(agent: str, lines: Iterable[bytes]) -> AgentReport:
    """Return the report in the lines that the program of an agent has printed. Lines of another form say nothing."""
    return _added_up(EventParser(agent), (line + b"\n" for line in lines))


def report_in(agent: str, file: BinaryIO) -> AgentReport:
    """Return the report in the rest of a file of the agent's output. Raises OSError."""
    return _added_up(EventParser(agent), iter(lambda: file.read(_PIECE_BYTES), b""))


def _added_up(parser: EventParser, pieces: Iterable[bytes]) -> AgentReport:
    report = AgentReport()
    for piece in pieces:
        report = reduce(with_event, parser.feed(piece), report)
    return reduce(with_event, parser.finish(), report)


def with_event(report: AgentReport, event: AgentEvent) -> AgentReport:
    """Return a report with a further event."""
    match event.kind:
        case EventKind.START:
            return replace(report, session=event.session)
        case EventKind.TEXT:
            message = report.message + event.text if event.is_continued else event.text
            return replace(report, message=message, limit=None) if event.is_message else report
        case EventKind.TOOL_CALL | EventKind.FILE_CHANGE:
            return replace(report, limit=None)
        case EventKind.USAGE:
            return replace(report, usage=report.usage + event.usage)
        case EventKind.ERROR:
            return replace(report, error=event.text, limit=event if event.is_limit else None)
        case EventKind.END:
            report = replace(report, message=event.text or report.message, is_over=True)
            return replace(report, error="", limit=None) if event.is_success else report
