"""Exports of the log: JSON Lines, and OpenTelemetry traces."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypedDict

import commonhold
from commonhold.api.wire import event_shapes
from commonhold.api.wire.text import dumps
from commonhold.cli.common_options import Given
from commonhold.cli.opening import Place
from commonhold.cli.output import answer, send, shown
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Recorded

_PAGE: Final = 5000


class Asked(TypedDict):
    """The events that are asked for; without a limit as many as is usual."""

    after: int | None
    limit: int | None
    lease_id: str | None


def send_lines(events: Sequence[Recorded]) -> None:
    """Print events as JSON, one a line."""
    lines = [dumps(each, indent=0) + "\n" for each in event_shapes.log(events)["events"]]
    send("".join(lines).encode())


def _pages(place: Place, span: Asked) -> Iterator[Sequence[Recorded]]:
    """Yield the events to export, page by page."""
    if span["after"] is None and span["limit"] is not None:
        yield place.hold.log(limit=span["limit"], lease_id=span["lease_id"])
        return
    after, left = span["after"] or 0, span["limit"]
    while left is None or left > 0:
        size = _PAGE if left is None else min(_PAGE, left)
        page = place.hold.log(after=after, limit=size, lease_id=span["lease_id"])
        if page:
            yield page
            after, left = page[-1].sequence, None if left is None else left - len(page)
        if len(page) < size:
            return


def export(given: Given, place: Place, span: Asked, otel: str | None) -> None:
    """Print events as JSON Lines, or write them as traces to the file `otel` (-: standard output).

    Raises InputError `FILE_NOT_FOUND`, `IO_FAILED` if the file cannot be written.
    """
    pages = _pages(place, span)
    if otel is None:
        for page in pages:
            send_lines(page)
        return
    # Loaded here: few calls export traces.
    from commonhold.history.traces import traces  # noqa: PLC0415

    events = [each for page in pages for each in page]
    text = dumps(traces(events, commonhold.__version__), indent=0) + "\n"
    if otel == "-":
        send(text.encode())
        return
    try:
        Path(given.folder or ".", otel).write_text(text, encoding="utf-8")
    except OSError as fault:
        raise InputError(
            Code.FILE_NOT_FOUND if isinstance(fault, FileNotFoundError) else Code.IO_FAILED,
            f"the traces could not be written to {otel!r}: {fault.strerror}",
            hint="name a file in a folder that exists, or - for standard output",
            fields={"path": otel},
        ) from fault
    shape = {"path": otel, "events": len(events)}
    answer(given, shape, lambda found: found, lambda _: f"{len(events)} events as traces: {shown(otel)}")
