"""A planner: a process that makes plans for a daemon. It reads files and state, and writes neither."""

import gc
import os
import signal
import traceback
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Final

from commonhold.adapters.repository import find_repository
from commonhold.adapters.worker_process import Ask, answer_frames
from commonhold.app.plan import Crossed, Plan
from commonhold.app.service import Service
from commonhold.app.typing import TypeReport
from commonhold.bootstrap import Shared, compose, open_insight
from commonhold.domain.errors import CommonholdError
from commonhold.server.planning.wire import (
    Answer,
    Asked,
    Defect,
    LinksAsked,
    PlanAsked,
    Tree,
    TypesAsked,
    asked,
    packed,
    type_report,
)

MOST_TREES: Final = 16
MOST_REMEMBERED: Final = 64
"""Of so many plans it is remembered what they found in other files."""
GARBAGE_THRESHOLD: Final = 50_000


class DaemonsTypes:
    """The type checkers of the daemon, which has one of a kind for all its planners: each keeps a project in memory."""

    def __init__(self) -> None:
        """Know nobody to ask yet."""
        self.ask: Ask | None = None

    def compare(self, changes: Mapping[str, bytes | None], also: Collection[str] = ()) -> TypeReport:
        """What they newly say."""
        if self.ask is None:
            return TypeReport()
        return type_report(self.ask(packed(TypesAsked(changes, tuple(also)))))

    def close(self) -> None:
        """They are the daemon's."""


class Planner:
    """Makes plans for the working trees that it is asked about."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._types = DaemonsTypes()
        self._services: list[tuple[Tree, Service]] = []
        self._found: OrderedDict[int, Crossed] = OrderedDict()
        self._numbers = count(1)

    def answer(self, request: Asked, ask: Ask | None = None) -> Answer:
        """The answer to a request; what is raised is one, too. `ask` asks the daemon."""
        self._types.ask = ask
        try:
            match request:
                case PlanAsked():
                    return self._plan(request)
                case LinksAsked(tree, number):
                    found = self._found.get(number)
                    return found is not None and self._service(tree).plans.still_links(found)
        except CommonholdError as fault:
            return fault
        except Exception:  # noqa: BLE001 - a defect of ours must not end a planner
            return Defect(traceback.format_exc())

    def _plan(self, request: PlanAsked) -> Answer:
        planned = self._service(request.tree).plans.plan(request.request, request.earlier)
        if not isinstance(planned, Plan) or not planned.crossed.is_linked:
            return planned
        number = next(self._numbers)
        self._found[number] = planned.crossed
        while len(self._found) > MOST_REMEMBERED:
            self._found.popitem(last=False)
        return replace(planned, crossed=planned.crossed.without_files((os.getpid(), number)))

    def _service(self, tree: Tree) -> Service:
        """The service for a working tree, the one used last at the end."""
        service = next((service for known, service in self._services if known == tree), None)
        if service is None:
            repository = find_repository(tree.root)
            types = self._types if tree.settings.types == "on" else None
            see = partial(open_insight, repository, tree.settings, keeps_index=False, types=types)
            service = compose(repository, tree.settings, umask=tree.umask, shared=Shared(see=see))
        self._services = [*(each for each in self._services if each[1] is not service), (tree, service)]
        while len(self._services) > MOST_TREES:
            self._services.pop(0)[1].close()
        return service


def main() -> None:
    """Serve on standard input and output."""
    # Ctrl-C and a request to end are for the daemon: it ends this process, and so does its death.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    planner = Planner()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    answer_frames(lambda data, ask: packed(planner.answer(asked(data), ask)))
