"""The services behind a daemon's connections: one for each working tree and holder, while it is used.

Changed settings apply from the next request on: a connected client gets another service then.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from commonhold.api.service import Service
from commonhold.api.wire.calls import Hello
from commonhold.bootstrap import Shared, compose, open_insight
from commonhold.commits.deferred_changes import DeferredChanges
from commonhold.commits.turns import Turns
from commonhold.config import FILES, Settings, load_settings
from commonhold.kernel.errors import Code, CommonholdError, InputError, UsageError
from commonhold.machine import file_stamps
from commonhold.reads.heartbeats import Heartbeats
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.daemon_files import log_path
from commonhold.workspace.repository import Repository, find_repository

if TYPE_CHECKING:
    from commonhold.commits.cross_file_admission import Insight
    from commonhold.commits.plan_sources import Plans
    from commonhold.server.planning.pool import Planners


MOST_UNUSED: Final = 64
"""Limit of services that wait unused for their holders to come back; most never do."""


@dataclass(slots=True)
class _Known:
    """A service, and the root and settings that it was made from.

    `seen` are the stamps of the settings' files at that time; None if stamps would not show a change. `told` is the
    fault in newer settings that the holder of this service was informed about.
    """

    root: str
    settings: Settings
    service: Service
    seen: file_stamps.Stamps | None = None
    told: str = ""

    def tell(self, fault: InputError) -> None:
        """Let the next answer of the service say why newer settings do not apply, once for each reason."""
        if fault.message != self.told:
            self.told = fault.message
            self.service.add_notice(f"{fault.message}; until that is fixed, the previous settings apply")


@dataclass(frozen=True, slots=True)
class _View:
    """An insight into the other files of a working tree, under certain settings."""

    root: str
    settings: Settings
    insight: Insight

    def is_for(self, root: str, settings: Settings) -> bool:
        """Whether a service with these settings uses it."""
        return (self.root, self.settings) == (root, settings)


class Services:
    """Makes services on demand. All services of a working tree with the same settings share one insight.

    Many threads may call it at once. A caller that decides which services are still used holds `lock` until it has
    called `let_go` or `keep`: no thread gets a service meanwhile.
    """

    def __init__(self, repository: Repository, store: SqliteStore) -> None:
        """Serve the working trees of `repository`, on its `store`."""
        self.lock = threading.RLock()
        self._making = threading.Lock()
        self._planners: Planners | None = None
        self._turns = Turns(is_complete=True)
        self._signs = Heartbeats()
        self.deferred_changes = DeferredChanges()
        self._repository = repository
        self._store = store
        self._known: dict[Hello, _Known] = {}
        self._seen: dict[str, file_stamps.Stamps] | None = None
        self._made: list[_Known] = []
        self._views: list[_View] = []
        self._most_made = MOST_UNUSED

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Check the settings' files of each working tree at most once before the end of the block.

        Other threads wait for that end: their calls may have begun after a file was changed and checked.
        """
        with self.lock:
            self._seen = {}
            try:
                yield
            finally:
                self._seen = None

    def service(self, hello: Hello) -> Service:
        """Return the service for one working tree and holder, under the present settings.

        Raises CommonholdError. If the settings cannot be used, a holder that has a service is also warned in its next
        answer.
        """
        with self.lock:
            known = self._known.get(hello)
            now = self._looked(hello.root)
            if known is not None and known.seen == now:
                return known.service
            at = time.time_ns()
            try:
                settings = load_settings(hello.root, store=hello.store, namespace=hello.namespace or None)
            except InputError as fault:
                if known is not None:
                    known.tell(fault)
                raise
            if known is None or known.settings != settings:
                known = self._known[hello] = self._new(hello, settings)
            known.seen = file_stamps.all_settled(now, at)
            return known.service

    def _looked(self, root: str) -> file_stamps.Stamps:
        if self._seen is None:
            return _stamps(root)
        if root not in self._seen:
            self._seen[root] = _stamps(root)
        return self._seen[root]

    def _new(self, hello: Hello, settings: Settings) -> _Known:
        found = find_repository(hello.root)
        if found.root != hello.root or found.state_folder != self._repository.state_folder:
            raise UsageError(
                Code.USAGE,
                f"{hello.root} is no working tree of the repository that this daemon serves",
                hint="start the command inside the repository",
            )
        see = partial(self._see, found, settings)
        plans_of = partial(self._plans_of, found, settings, hello.umask)
        shared = Shared(self._store, see, plans_of, self._turns, self._signs, self.deferred_changes)
        service = compose(found, settings, agent=hello.agent, umask=hello.umask, shared=shared)
        self._made.append(_Known(found.root, settings, service))
        return self._made[-1]

    def _plans_of(self, found: Repository, settings: Settings, umask: int, own: Plans) -> Plans:
        """Return the planner of commits in a working tree; `own` is the planner in this process."""
        # Loaded here: a daemon that only leases needs no modules for planning.
        from commonhold.server.planning.pool import Planners, PooledPlans, start_planner  # noqa: PLC0415
        from commonhold.server.planning.wire import Tree  # noqa: PLC0415

        with self._making:
            if self._planners is None:
                start = partial(start_planner, settings.log, log_path(self._repository.state_folder))
                self._planners = Planners(start=start, crowd=self._turns.crowd)
        tree = Tree(found.root, settings, umask)
        return PooledPlans(self._planners, tree, own, lambda: self._see(found, settings).types)

    def close(self) -> None:
        """End the planner processes."""
        if self._planners is not None:
            self._planners.close()

    def _see(self, found: Repository, settings: Settings) -> Insight:
        """Return the shared insight into a working tree: it has files and type checkers open, so there is only one."""
        with self._making:
            view = next((each for each in self._views if each.is_for(found.root, settings)), None)
            if view is None:
                view = _View(found.root, settings, open_insight(found, settings))
                self._views.append(view)
            return view.insight

    def of_trees(self) -> list[Service]:
        """Return one holderless service for each working tree in use: a named holder would count as alive."""
        with self.lock:
            nobodys = {hello.root: hello for hello in self._known if not (hello.agent or hello.store)}
            return [self.present(hello) for hello in nobodys.values()]

    def present(self, hello: Hello) -> Service:
        """Return the service for a known client; if its settings cannot be used, the previous one."""
        with self.lock:
            with suppress(CommonholdError, OSError):
                return self.service(hello)
            return self._known[hello].service

    @property
    def has_too_many(self) -> bool:
        """Whether so many services were made since the last cleanup that it is time for the next."""
        return len(self._made) > self._most_made

    def let_go(self, used: Collection[Service]) -> None:
        """Drop all services but the `used` ones: agents come and go, and each is a new holder.

        The insights into working trees stay, for the next clients.
        """
        with self.lock:
            self._known = {hello: known for hello, known in self._known.items() if known.service in used}
            self._made = [known for known in self._made if known.service in used]
            self._most_made = len(self._made) + MOST_UNUSED

    def keep(self, used: Collection[Service]) -> None:
        """Drop all services but the `used` ones, and close the insights into working trees that no service uses."""
        with self.lock, self._making:
            self.let_go(used)
            views, self._views = self._views, []
            for view in views:
                if any(view.is_for(known.root, known.settings) for known in self._made):
                    self._views.append(view)
                else:
                    view.insight.close()


@contextmanager
def naming_tree(root: str) -> Iterator[None]:
    """Raise any OSError or ValueError of the block as InputError `PATH_INVALID` about the working tree at `root`."""
    try:
        yield
    except (OSError, ValueError) as fault:
        where = f"the working tree {root!a} cannot be used: {fault!a}"
        raise InputError(Code.PATH_INVALID, where, hint="see whether it is still there, and yours") from fault


def _stamps(root: str) -> file_stamps.Stamps:
    return file_stamps.behind(f"{root}{os.sep}{name}" for name in FILES)
