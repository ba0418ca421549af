"""The logs that `commonhold doctor --compact` compacts, the export of their events, and what is said about them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from commonhold.cli.chain_export import write
from commonhold.cli.common_options import Given, start_of
from commonhold.cli.opening import Place
from commonhold.config import load_settings
from commonhold.diagnostics.finding import Finding, ok
from commonhold.history.answers import CompactionAnswer
from commonhold.kernel.hash_chain import links_after
from commonhold.kernel.texts import counted
from commonhold.workspace.repository import find_repository


@dataclass(frozen=True, slots=True)
class Log:
    """A log to compact: the repository's own, or the one that machines share; `export` is the path for its events."""

    is_shared: bool
    export: str = ""


def logs(given: Given, export: str | None) -> Iterator[Log]:
    """Yield the repository's own log, and one in PostgreSQL, whose export gets the ending `.shared`."""
    path = os.path.abspath(os.path.join(given.folder or "", export)) if export else ""  # noqa: PTH100, PTH118 - may be a link
    yield Log(is_shared=False, export=path)
    if load_settings(find_repository(start_of(given)).root, store=given.store).store.startswith("postgres"):
        yield Log(is_shared=True, export=path and f"{path}.shared")


def export_events(place: Place, log: Log, found: CompactionAnswer) -> None:
    """Write the events that are about to be deleted, if that was asked for. Raises as `write`."""
    if log.export:
        links = links_after(lambda after: place.hold.chain(after=after, shared=log.is_shared), found.first - 1)
        write(log.export, takewhile(lambda each: each.sequence <= found.last, links))


def described(log: Log, done: CompactionAnswer) -> Finding:
    """Return the finding about a compaction."""
    stays = f"; later events stay: {done.why}" if done.why else ""
    freed = f", {done.freed:,} bytes freed" if done.freed else ""
    export = f"; they are in {log.export}" if log.export else ""
    gone = f"{counted(done.events, 'event')}, {done.first} to {done.last}, replaced by a snapshot{freed}{export}"
    unwritten = f", so {log.export} was not written" if log.export else ""
    found = f"{gone if done.events else f'no event is old enough to go{unwritten}'}{stays}"
    facts = {"first": done.first, "last": done.last, "events": done.events, "freed": done.freed, "export": log.export}
    return ok("compact shared" if log.is_shared else "compact", found, **facts)
