"""The JSON form of the log."""

from collections.abc import Sequence

import msgspec

from commonhold.domain.events import KIND_OF, Recorded
from commonhold.wire.instants import instant
from commonhold.wire.text import Json


def log(events: Sequence[Recorded]) -> Json:
    """Events in order; `event` has the fields of its kind."""
    return {
        "events": [
            {
                "sequence": each.sequence,
                "at": instant(each.at),
                "kind": KIND_OF[type(each.event)],
                "event": msgspec.to_builtins(each.event),
            }
            for each in events
        ]
    }
