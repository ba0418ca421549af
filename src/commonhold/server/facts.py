"""Facts about a daemon for its HTTP interface, which gets them without a call of the service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from commonhold.server.call_counts import CallCounts


@dataclass(frozen=True, slots=True)
class Facts:
    """Each may be asked in any thread, and all but `newest_event` may wait for a store on another machine.

    - `newest_event`: the sequence of the newest durable event; 0 if there is none.
    - `why_not_ready`: why no requests can be served now; empty if they can.
    - `gauges`: present numbers, by the ends of their names in the metrics.
    """

    newest_event: Callable[[], int]
    why_not_ready: Callable[[], str]
    gauges: Callable[[], Mapping[str, float]]
    counts: CallCounts
