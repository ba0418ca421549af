"""The JSON form of the log."""

from collections.abc import Sequence

import msgspec

from commonhold.api.wire.instants import instant
from commonhold.api.wire.text import Json
from commonhold.kernel.events import KIND_OF, Recorded


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
