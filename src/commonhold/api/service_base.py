"""The part that all operations of the service share: its use cases, its session, and the check before an answer."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from commonhold.api.operations import Operation, Schedule
from commonhold.kernel import texts

if TYPE_CHECKING:
    from commonhold.commits.plan_sources import Plans
    from commonhold.commits.use_cases import Parts
    from commonhold.commits.write_use_cases import Writing
    from commonhold.landing.service import Entries
    from commonhold.sessions.service import ManagedSessions
    from commonhold.tasks.service import Tasks
    from commonhold.views.looking import Views

T = TypeVar("T")


class ServiceBase:
    """The use cases of one working tree, for one agent session."""

    def __init__(self, *, agent: str | None = None, **parts: Unpack[Parts]) -> None:
        """Compose the use cases; `commonhold.open` does so for a repository on disk."""
        # Loaded here: a client of a daemon needs the interface, and none of the implementation.
        from commonhold.commits.use_cases import UseCases  # noqa: PLC0415

        self._agent = texts.check_holder(agent) if agent is not None else None
        self._uses = UseCases(agent, parts)
        self._written_with: Writing | None = None
        self._composing = Lock()

    @property
    def _writing(self) -> Writing:
        """Return the use cases that judge and record files: half of the engine, and unused by queries and leases."""
        with self._composing:
            if self._written_with is None:
                from commonhold.commits.write_use_cases import Writing  # noqa: PLC0415

                self._written_with = Writing(self._uses)
            return self._written_with

    @property
    def plans(self) -> Plans:
        """Return this process's maker of commit plans: for a process that does nothing else."""
        return self._writing.own_plans

    @property
    def _views(self) -> Views:
        # Loaded here: they are only for people.
        from commonhold.views.looking import Views  # noqa: PLC0415

        return Views(self._uses.place, self._uses.queries)

    @property
    def session_queue(self) -> ManagedSessions:
        """Return the managed sessions: for the process that starts their supervisors."""
        return self._uses.managed_sessions

    @property
    def merge_queue(self) -> Entries:
        """Return the entries of the merge queue: for the process whose sessions land without a review."""
        return self._uses.entries

    @property
    def task_queue(self) -> Tasks:
        """Return the tasks: for the process whose sessions wait until the work of some has landed."""
        return self._uses.tasks

    @property
    def root(self) -> str:
        """Return the absolute path of the working tree."""
        return self._uses.place.files.root

    @property
    def is_shared(self) -> bool:
        """Whether leases are kept elsewhere than beside the repository."""
        return self._uses.is_shared

    @property
    def holder(self) -> str:
        """Return the name under which this session holds leases. Raises UsageError `HOLDER_MISSING` if it has none."""
        return self._agent or texts.check_holder("")

    def _give_sign(self) -> None:
        """Note that this session is at work."""
        if self._agent is not None:
            self._uses.surroundings.signs.note(self._agent, self._uses.place.clock.now().wall)

    def _ttl(self, seconds: float | None) -> float:
        return self._uses.options.ttl_seconds if seconds is None else seconds

    @Operation(Schedule.QUICK, reads=True, in_sdk=False)
    def heartbeat(self) -> None:
        """Extend the leases of this session: every call of a holder is a sign of life."""
        if self._agent is not None:
            self._uses.leases.let_last(self._agent)

    def _looked(self, question: Callable[[], T]) -> T:
        """Answer from the same view that shows that no recovery is necessary; otherwise recover first, then answer.

        Leases kept elsewhere are not queried inside a view of the local state.
        """
        if not self.is_shared:
            with self._uses.place.store.read():
                if self._uses.maintenance.is_whole() and (not self._agent or self._uses.leases.will_last(self._agent)):
                    return question()
        self._uses.maintenance.recover_for_reading()
        self.heartbeat()
        return question()

    def _recover_if_possible(self) -> None:
        self._uses.maintenance.wait_for_halves()
        self._looked(lambda: None)

    def close(self) -> None:
        """Close the state. Leases stay as they are."""
        if self._written_with is not None:
            self._written_with.close()
        self._uses.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
