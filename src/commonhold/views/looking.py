"""Read the state and the log of one working tree for the views."""

from collections.abc import Sequence

from commonhold.commits.queries import Queries
from commonhold.kernel.events import Recorded
from commonhold.leases.registry import task_storage
from commonhold.views.overview import Overview, Work, overview
from commonhold.views.timeline import MOST_EVENTS, Timeline, timeline
from commonhold.workspace.place import WorktreeState

_EXAMINED = 500
"""How many of the newest events an overview examines for conflicts and refusals."""

_ENTRIES = 50
"""How many of the newest entries of the merge queue it examines for returned ones."""


class Views:
    """The views of one working tree, and of the leases that machines share with it."""

    def __init__(self, place: WorktreeState, queries: Queries) -> None:
        """Read the logs of `place`, and the present state through `queries`."""
        self._place = place
        self._queries = queries

    def overview(self) -> Overview:
        """Return the present moment."""
        tables, _ = task_storage(self._place)
        with tables.read() as reader:
            entries, sessions = reader.entries_in_question(()), reader.managed_sessions_in_question(())
            newest = reader.entries(limit=_ENTRIES)
            work = Work(reader.tasks(), reader.runs(), entries, reader.landings(), sessions, newest)
        return overview(self._queries.status(), work, self._newest(_EXAMINED), self._place.clock.now())

    def timeline(self, limit: int) -> Timeline:
        """Return the newest `limit` events of each log as a timeline."""
        return timeline(self._newest(max(1, min(limit, MOST_EVENTS))), self._place.clock.now().wall)

    def _newest(self, limit: int) -> Sequence[Recorded]:
        """Return the newest events of all logs, in the order of time."""
        with self._place.store.read() as reader:
            parts = [reader.latest(limit)]
        if self._place.is_shared:
            with self._place.registry.read() as view:
                parts.append(view.latest(limit))
        return parts[0] if len(parts) == 1 else sorted((e for part in parts for e in part), key=lambda each: each.at)
