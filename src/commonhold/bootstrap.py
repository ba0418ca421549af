"""The composition root: a repository on disk becomes a service."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from commonhold.adapters import parse_trials
from commonhold.adapters.files import WorkingTree
from commonhold.adapters.repository import Repository, find_repository
from commonhold.adapters.seen import Seen, place_of
from commonhold.adapters.sqlite.store import SqliteStore
from commonhold.adapters.system import RandomIds, SystemClock, is_running
from commonhold.app.ports import Registry, Step, no_step
from commonhold.app.put_off import PutOff
from commonhold.app.registry import TableRegistry
from commonhold.app.service import Service
from commonhold.app.signs_of_life import SignsOfLife
from commonhold.app.turns import Turns
from commonhold.app.use_cases import Surroundings
from commonhold.config import Settings, load_settings
from commonhold.domain.errors import Code, InputError
from commonhold.regions.budget import TRIALS

if TYPE_CHECKING:
    from commonhold.app.checks import Check
    from commonhold.app.crossing import Insight
    from commonhold.app.plans import PlansOf
    from commonhold.app.typing import TypeChecker


def open_repository(path: str = ".", *, agent: str | None = None, at_step: Step = no_step) -> Service:
    """The service for the repository around `path`, in this process, for the agent session named `agent`.

    Without an agent only questions can be asked. Nothing is written before the first call that has to.
    """
    repository = find_repository(path)
    return compose(repository, load_settings(repository.root), agent=agent, at_step=at_step)


@dataclass(frozen=True, slots=True)
class Shared:
    """What the services of one process share: the open `store`, what they `see` other files with, and their `turns`.

    `signs` tell when their holders called last; `plans_of` says who plans commits, given who does so in this process.
    Where they have `put_off`, this process lives on, and has what is put off examined.
    """

    store: SqliteStore | None = None
    see: Callable[[], Insight | None] | None = None
    plans_of: PlansOf | None = None
    turns: Turns | None = None
    signs: SignsOfLife | None = None
    put_off: PutOff | None = None


def compose(
    repository: Repository,
    settings: Settings,
    *,
    agent: str | None = None,
    at_step: Step = no_step,
    umask: int | None = None,
    shared: Shared | None = None,
) -> Service:
    """Put the parts together for a repository that was found.

    `umask` is that of the process that it is done for, where that is another. `shared` is what other services of this
    process use as well; without it, this one has everything for itself.
    """
    shared = shared or Shared()
    TRIALS.is_quick = parse_trials.is_quick
    files = WorkingTree(
        repository.root,
        git_dir=repository.git_dir,
        max_file_bytes=settings.max_file_bytes,
        at_step=at_step,
        umask=umask,
    )
    return Service(
        store=shared.store or SqliteStore(repository.state, synchronous=settings.durability),
        files=files,
        clock=SystemClock(),
        ids=RandomIds(),
        agent=agent,
        options=settings.options(socket.gethostname()),
        surroundings=Surroundings(
            registry_of(repository, settings) if settings.store else None,
            shared.see or partial(open_insight, repository, settings),
            is_running,
            shared.plans_of or (lambda own: own),
            shared.turns or Turns(),
            shared.signs or SignsOfLife(),
            shared.put_off,
        ),
        at_step=at_step,
    )


def reset_state(repository: Repository, by: str) -> bool:
    """Take a state that has lost events into use again, with nothing leased; return whether it had lost any.

    Raises StoreError, as `STORE_OWNED` while a daemon serves the repository.
    """
    # Loaded here: hardly anybody ever needs it.
    from commonhold.adapters.sqlite.reset import reset  # noqa: PLC0415
    from commonhold.app.resetting import reset_events  # noqa: PLC0415

    return reset(repository.state_folder, lambda session: reset_events(session, by), SystemClock().now().wall)


def registry_of(repository: Repository, settings: Settings) -> Registry:
    """The leases of a repository whose settings name a store of their own. Raises as `open_registry`."""
    return open_registry(settings.store, settings.namespace or name_of(repository), repository.state_folder)


def open_insight(
    repository: Repository, settings: Settings, *, keeps_index: bool = True, types: TypeChecker | None = None
) -> Insight:
    """What can be seen of the other files of a repository. Nothing is opened or started before it is asked.

    `keeps_index`: this process writes down which file has which summary, for whoever looks next. `types` is the type
    checker to ask, if that is not one of this process.
    """
    # Loaded here, as below: to look at one file, or to lease it, no other needs to be seen.
    from commonhold.adapters.index.index import index_at  # noqa: PLC0415
    from commonhold.adapters.typecheck import open_checkers  # noqa: PLC0415
    from commonhold.app.crossing import Insight  # noqa: PLC0415

    if types is None and settings.types == "on":
        types = open_checkers(repository.root)
    can_test = repository.git_dir is not None and settings.tests
    tests_of = partial(_tests_of, repository.root, settings.tests) if can_test else None
    return Insight(index_at(repository, settings.max_file_bytes, keeps=keeps_index), types, tests_of)


def _tests_of(root: str, command: str, paths: Sequence[str]) -> Check:
    """The check that runs the tests at these paths on a copy of the working tree."""
    from commonhold.adapters.checks import TESTS, CommandCheck  # noqa: PLC0415
    from commonhold.adapters.git.running import Git  # noqa: PLC0415
    from commonhold.adapters.git.working_copy import WorkingCopy  # noqa: PLC0415

    return CommandCheck(command.replace(TESTS, shlex.join(paths)), WorkingCopy(Git(root)), worktree=root)


def name_of(repository: Repository) -> str:
    """The name that the leases of a repository are shared by, unless the settings give another: its folder's."""
    place = Path(repository.state_folder).parent
    return (place.parent if place.name == ".git" else place).name


def open_registry(url: str, namespace: str, folder: str) -> Registry:
    """Where leases are kept, by URL. The newest event that this machine was told of is kept in `folder`.

    Raises InputError `STORE_URL_INVALID`, StoreError where it cannot be used.
    """
    scheme = urlsplit(url).scheme
    seen = Seen(place_of(folder, url, namespace))
    if scheme == "sqlite" and url != "sqlite:":
        return TableRegistry(SqliteStore(url.removeprefix("sqlite:")), SystemClock())
    if scheme in ("postgresql", "postgres"):
        # An extra: psycopg may not be there, and open_postgres says so.
        from commonhold.adapters.postgres import open_postgres  # noqa: PLC0415

        tables = open_postgres(url, namespace, seen=seen)
        from commonhold.adapters.postgres.registry import PostgresRegistry  # noqa: PLC0415

        return PostgresRegistry(tables)
    if scheme in ("redis", "rediss", "unix"):
        from commonhold.adapters.redis import open_redis  # noqa: PLC0415 - an extra: redis may not be there

        return open_redis(url, namespace, seen=seen)
    raise InputError(
        Code.STORE_URL_INVALID,
        f"there is no store of the kind {scheme!r}" if scheme else f"{url[:40]!r} is no URL of a store",
        hint="give sqlite:FOLDER, postgresql://HOST/DATABASE or redis://HOST",
        fields={"scheme": scheme},
    )
