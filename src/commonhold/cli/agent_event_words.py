"""The events of an agent, in words and as JSON."""

from collections.abc import Iterable, Iterator

from commonhold.agents.headless_events import AgentEvent, EventKind
from commonhold.api.wire.run_shapes import usage
from commonhold.api.wire.text import Json
from commonhold.cli.describe import used
from commonhold.cli.output import shown, shown_text


class Conversation:
    """The events of an agent as lines to read; a message that comes in parts is held until it is complete."""

    def __init__(self) -> None:
        """Begin with the first event."""
        self._message = ""

    def lines(self, events: Iterable[AgentEvent]) -> Iterator[str]:
        """Yield the lines of further events."""
        for event in events:
            if event.is_message and event.is_continued:
                self._message += event.text
                continue
            yield from self.rest()
            if event.is_message:
                self._message = event.text
            else:
                yield from _lines(event)

    def rest(self) -> Iterator[str]:
        """Yield the message that is held, which ends here."""
        if self._message:
            yield shown_text(self._message)
            self._message = ""


def _lines(event: AgentEvent) -> Iterator[str]:
    match event.kind:
        case EventKind.TEXT:
            yield shown_text(event.text)
        case EventKind.TOOL_CALL | EventKind.FILE_CHANGE:
            mark = "changes" if event.kind is EventKind.FILE_CHANGE else "calls"
            yield f"  {mark} {shown(event.path if mark == 'changes' and event.path else event.tool)}{_on(event, mark)}"
        case EventKind.USAGE:
            yield f"  used: {used(event.usage)}"
        case EventKind.ERROR:
            yield f"error: {shown(event.text)}{' (a limit of its account)' if event.is_limit else ''}"
        case EventKind.END:
            yield "the agent ended its turn" if event.is_success else "the agent ended its turn, without a success"
        case _:
            pass


def _on(event: AgentEvent, mark: str) -> str:
    """Return the tool of a change; of a call, the first line of its subject."""
    if mark == "changes":
        return f" by {shown(event.tool)}" if event.path else ""
    first = event.text.partition("\n")[0]
    return f": {shown(first)}" if first else ""


def shape(event: AgentEvent, attempt: int) -> Json:
    """Return an event as JSON, with the cursors of its line; fields that do not apply are left out."""
    parts: Json = {
        "cursor": f"{attempt}:{event.at}",
        "kind": event.kind.value,
        "text": event.text,
        "tool": event.tool,
        "path": event.path,
        "session": event.session,
        "usage": usage(event.usage) if event.kind is EventKind.USAGE else None,
        "continued": event.is_continued,
        "limit": event.is_limit,
        "until": event.until,
        "success": event.is_success if event.kind is EventKind.END else None,
        "next": f"{attempt}:{event.next_at}",
    }
    return {name: part for name, part in parts.items() if part or (part is False and name == "success")}
