"""The services behind the connections of a daemon: one for each working tree and holder, as long as somebody has it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from commonhold.adapters.repository import Repository, find_repository
from commonhold.adapters.sqlite import SqliteStore
from commonhold.app.service import Service
from commonhold.bootstrap import compose, open_insight
from commonhold.config import Settings, load_settings
from commonhold.domain.errors import Code, UsageError
from commonhold.wire.calls import Hello

if TYPE_CHECKING:
    from commonhold.app.crossing import Insight


@dataclass(frozen=True, slots=True)
class _Known:
    settings: Settings
    service: Service


@dataclass(frozen=True, slots=True)
class _Seen:
    root: str
    settings: Settings
    insight: Insight


class Services:
    """Makes them as they are asked for. What is seen of a working tree, all who work there see together."""

    def __init__(self, repository: Repository, store: SqliteStore) -> None:
        """Serve the working trees of `repository`, on its `store`."""
        self._repository = repository
        self._store = store
        self._known: dict[Hello, _Known] = {}
        self._seen: list[_Seen] = []

    def service(self, hello: Hello) -> Service:
        """The service for one working tree and holder, by the settings as they are now. Raises CommonholdError."""
        settings = load_settings(hello.root, store=hello.store, namespace=hello.namespace or None)
        known = self._known.get(hello)
        if known is not None and known.settings == settings:
            return known.service
        found = find_repository(hello.root)
        if found.root != hello.root or found.state_folder != self._repository.state_folder:
            raise UsageError(
                Code.USAGE,
                f"{hello.root} is no working tree of the repository that this daemon serves",
                hint="start the command inside the repository",
            )
        see = partial(self._see, found, settings)
        service = compose(found, settings, agent=hello.agent, store=self._store, umask=hello.umask, see=see)
        self._known[hello] = _Known(settings, service)
        return service

    def _see(self, found: Repository, settings: Settings) -> Insight:
        """What is seen of the other files: it has files open, and type checkers: one is for all in a working tree."""
        for seen in self._seen:
            if (seen.root, seen.settings) == (found.root, settings):
                return seen.insight
        insight = open_insight(found, settings)
        self._seen.append(_Seen(found.root, settings, insight))
        return insight

    def of_trees(self) -> list[Service]:
        """One of nobody for each working tree that is looked after: whoever is named would be taken to be alive."""
        nobodys = {hello.root: each.service for hello, each in self._known.items() if not (hello.agent or hello.store)}
        return list(nobodys.values())

    def keep(self, used: Collection[Service]) -> None:
        """Let go of all but those that are `used`: agents come and go, and each is somebody new."""
        self._known = {hello: known for hello, known in self._known.items() if known.service in used}
        kept = [(hello.root, known.settings) for hello, known in self._known.items()]
        for seen in self._seen:
            if (seen.root, seen.settings) not in kept:
                seen.insight.close()
        self._seen = [seen for seen in self._seen if (seen.root, seen.settings) in kept]
