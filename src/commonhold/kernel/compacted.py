"""Words about events that a snapshot has replaced."""

from datetime import UTC, datetime

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import LogCompacted
from commonhold.kernel.lease_ports import LeaseView


def is_compacted(view: LeaseView, number: int) -> bool:
    """Return whether a snapshot has replaced the event of this number. The first event has the number 1."""
    return 0 < number <= _last(view)


def _last(view: LeaseView) -> int:
    found = view.compaction()
    return found.event.last if found is not None and isinstance(found.event, LogCompacted) else 0


def told_compacted(view: LeaseView) -> str:
    """Return which events were compacted, when, by whom, and where their export is; empty if all events are there."""
    found = view.compaction()
    if found is None or not isinstance(found.event, LogCompacted):
        return ""
    event, day = found.event, datetime.fromtimestamp(found.at, UTC).date().isoformat()
    export = f"the last export is {event.export}" if event.export else "no export was named"
    return f"the events up to {event.last} were compacted on {day} by {event.holder}; {export}"


def was_compacted(view: LeaseView, what: str) -> InputError:
    """Return the error for `what`, which only deleted events could answer."""
    found = view.compaction()
    event = found.event if found is not None else None
    export = event.export if isinstance(event, LogCompacted) else ""
    hint = f"look in the export {export}, or an earlier one" if export else "a backup from before that day has them"
    return InputError(
        Code.EVENT_COMPACTED,
        f"{what}: {told_compacted(view)}",
        hint=f"{hint}; `commonhold log` shows the events since",
        fields={"compacted": _last(view)},
    )
