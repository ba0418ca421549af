"""The services behind the connections of a daemon: one for each working tree and holder, as long as somebody has it.

Settings that are changed hold from the next request on: whoever is connected gets another service then.
"""

import os
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from commonhold.adapters.index import stamps
from commonhold.adapters.repository import Repository, find_repository
from commonhold.adapters.sqlite import SqliteStore
from commonhold.app.crossing import Insight
from commonhold.app.service import Service
from commonhold.bootstrap import compose, open_insight
from commonhold.config import FILES, Settings, load_settings
from commonhold.domain.errors import Code, CommonholdError, UsageError
from commonhold.wire.calls import Hello


@dataclass(slots=True)
class _Known:
    """A service, and what it was made by. `seen`: as the settings' files were then; None: that would not show."""

    settings: Settings
    service: Service
    insight: Insight
    seen: stamps.Stamps | None = None


class Services:
    """Makes them as they are asked for. What is seen of a working tree, all who work there see together."""

    def __init__(self, repository: Repository, store: SqliteStore) -> None:
        """Serve the working trees of `repository`, on its `store`."""
        self._repository = repository
        self._store = store
        self._known: dict[Hello, _Known] = {}
        self._made: list[_Known] = []

    def service(self, hello: Hello) -> Service:
        """The service for one working tree and holder, by the settings as they are now. Raises CommonholdError."""
        known = self._known.get(hello)
        now = _stamps(hello.root)
        if known is not None and known.seen == now:
            return known.service
        at = time.time_ns()
        settings = load_settings(hello.root, store=hello.store, namespace=hello.namespace or None)
        if known is None or known.settings != settings:
            known = self._known[hello] = self._new(hello, settings)
        known.seen = stamps.all_settled(now, at)
        return known.service

    def _new(self, hello: Hello, settings: Settings) -> _Known:
        found = find_repository(hello.root)
        if found.root != hello.root or found.state_folder != self._repository.state_folder:
            raise UsageError(
                Code.USAGE,
                f"{hello.root} is no working tree of the repository that this daemon serves",
                hint="start the command inside the repository",
            )
        insight = self._insight(found, settings)
        service = compose(found, settings, agent=hello.agent, store=self._store, umask=hello.umask, insight=insight)
        self._made.append(_Known(settings, service, insight))
        return self._made[-1]

    def _insight(self, found: Repository, settings: Settings) -> Insight:
        """What is seen of the other files: it has files open, and type checkers: one is for all in a working tree."""
        for hello, known in self._known.items():
            if hello.root == found.root and known.settings == settings:
                return known.insight
        return open_insight(found, settings)

    def of_trees(self) -> list[Service]:
        """One of nobody for each working tree that is looked after: whoever is named would be taken to be alive."""
        nobodys = {hello.root: hello for hello in self._known if not (hello.agent or hello.store)}
        return [self.present(hello) for hello in nobodys.values()]

    def present(self, hello: Hello) -> Service:
        """The service for one who is known; where its settings cannot be used, the one that there was."""
        with suppress(CommonholdError, OSError):
            return self.service(hello)
        return self._known[hello].service

    def keep(self, used: Collection[Service]) -> None:
        """Let go of all but those that are `used`: agents come and go, and each is somebody new."""
        self._known = {hello: known for hello, known in self._known.items() if known.service in used}
        left = [known.insight for known in self._made if known.service not in used]
        self._made = [known for known in self._made if known.service in used]
        for insight in left:
            if not any(insight is each.insight for each in self._made):
                insight.close()


def _stamps(root: str) -> stamps.Stamps:
    return stamps.behind(f"{root}{os.sep}{name}" for name in FILES)
