"""The composition root: builds a service for a repository on disk."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from commonhold.api.service import Service
from commonhold.code.regions.budget import TRIALS
from commonhold.commits.deferred_changes import DeferredChanges
from commonhold.commits.turns import Turns
from commonhold.commits.use_cases import Surroundings
from commonhold.config import Settings, load_settings
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.ports import Revisions, Step, no_step
from commonhold.leases.registry import TableRegistry
from commonhold.machine.logs import Log
from commonhold.machine.system import RandomIds, SystemClock, is_running
from commonhold.reads.heartbeats import Heartbeats
from commonhold.stores.seen import Seen, place_of
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace import parse_trials
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.repository import Repository, find_repository

QUOTED_TOKENS = 400
"""How many tokens of the project's notes a refusal quotes at most, about."""
CHARACTERS_OF_A_SECTION = 1200
"""How much of a section a search returns."""
READ_FOR_A_REFUSAL = 200
"""How many changed notes a refusal reads at most: it must not wait until all of a large project are read."""
_log: Final = Log(__name__)

if TYPE_CHECKING:
    from commonhold.code.indexes import Progress
    from commonhold.code.type_checkers import TypeChecker
    from commonhold.commits.cross_file_admission import Insight
    from commonhold.commits.plan_sources import PlansOf
    from commonhold.kernel.answers import NoteQuote
    from commonhold.merging.branches.verification import Check
    from commonhold.stores.sqlite.backup import Restored
    from commonhold.tasks.archive import Archive
    from commonhold.tasks.prediction import Predictor


def open_repository(path: str = ".", *, agent: str | None = None, at_step: Step = no_step) -> Service:
    """Return the service for the repository around `path`, in this process, for the agent session named `agent`.

    Without an agent it only answers queries. Nothing is written before the first call that must write.
    """
    repository = find_repository(path)
    return compose(repository, load_settings(repository.root), agent=agent, at_step=at_step)


@dataclass(frozen=True, slots=True)
class Shared:
    """The parts that the services of one process share: the open `store`, their insight (`see`), and their `turns`.

    `signs` are the last calls of their holders; `plans_of` returns the maker of plans, given that of this process. With
    `deferred_changes`, this process lives on, and examines the deferred changes.
    """

    store: SqliteStore | None = None
    see: Callable[[], Insight | None] | None = None
    plans_of: PlansOf | None = None
    turns: Turns | None = None
    signs: Heartbeats | None = None
    deferred_changes: DeferredChanges | None = None


def compose(
    repository: Repository,
    settings: Settings,
    *,
    agent: str | None = None,
    at_step: Step = no_step,
    umask: int | None = None,
    shared: Shared | None = None,
) -> Service:
    """Compose the service for a repository that was found.

    `umask` is that of the process on whose behalf it works, if that is another. `shared` are the parts that other
    services of this process use as well; without it, this one has its own.
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
            shared.signs or Heartbeats(),
            shared.deferred_changes,
            partial(_find_notes, repository, settings),
            partial(_search_notes, repository, settings),
            partial(_revisions, repository),
            place_of_sessions(repository),
            _waker(repository, settings) if settings.broker else lambda: None,
        ),
        at_step=at_step,
    )


def _waker(repository: Repository, settings: Settings) -> Callable[[], None]:
    from commonhold.sessions.wakes import Waker, send_wake  # noqa: PLC0415 - most repositories have no broker

    namespace = settings.namespace or name_of(repository)

    def send() -> None:
        try:
            send_wake(settings.broker, namespace)
        except Exception as fault:  # noqa: BLE001 - the clients of brokers raise errors of many libraries
            _log.warning("no wake was sent", why=f"{type(fault).__name__}: {fault}")

    return Waker(send)


def _revisions(repository: Repository) -> Revisions | None:
    if repository.git_dir is None:
        return None
    # Loaded here: only tasks ask about commits.
    from commonhold.workspace.git.process import Git  # noqa: PLC0415
    from commonhold.workspace.git.reachability import GitRevisions  # noqa: PLC0415

    return GitRevisions(Git(repository.root))


def reset_state(repository: Repository, by: str) -> bool:
    """Reset a state that has lost events, with nothing leased; return whether it had lost any.

    Raises StoreError, such as `STORE_OWNED` while a daemon serves the repository.
    """
    # Loaded here: it is hardly ever needed.
    from commonhold.stores.reset_events import reset_events  # noqa: PLC0415
    from commonhold.stores.sqlite.reset import reset  # noqa: PLC0415

    return reset(repository.state_folder, lambda session: reset_events(session, by), SystemClock().now().wall)


def restore_state(repository: Repository, path: str, by: str) -> Restored:
    """Put a backup in the place of the state, with nothing leased; the state before is kept beside it.

    Raises InputError, StoreError, such as `STORE_OWNED` while a daemon serves the repository.
    """
    from commonhold.stores.reset_events import reset_events  # noqa: PLC0415 - as above
    from commonhold.stores.sqlite.backup import restore  # noqa: PLC0415

    repository.state.make()
    at = SystemClock().now().wall
    kept = f".before-{at:.0f}"
    return restore(repository.state_folder, path, lambda session: reset_events(session, by), at, kept)


def registry_of(repository: Repository, settings: Settings) -> Registry:
    """Return the leases of a repository whose settings name a store for them. Raises as `open_registry`."""
    return open_registry(settings.store, settings.namespace or name_of(repository), repository.state_folder)


def place_of_sessions(repository: Repository) -> str:
    """Return the name of this machine and state folder as the place where managed sessions run."""
    return f"{socket.gethostname()}:{repository.state_folder}"


def open_insight(
    repository: Repository, settings: Settings, *, keeps_index: bool = True, types: TypeChecker | None = None
) -> Insight:
    """Return the insight into the other files of a repository. Nothing is opened or started before its first use.

    `keeps_index`: this process writes the summary of each file to the index, for later readers. `types` is the type
    checker to use, if that is not one of this process.
    """
    # Loaded here, as below: reading or leasing one file needs no insight into others.
    from commonhold.commits.cross_file_admission import Insight  # noqa: PLC0415
    from commonhold.index.index import index_at  # noqa: PLC0415
    from commonhold.typecheck import open_checkers  # noqa: PLC0415

    if types is None and settings.types == "on":
        types = open_checkers(repository.root)
    can_test = repository.git_dir is not None and settings.tests
    tests_of = partial(_tests_of, repository.root, settings.tests) if can_test else None
    return Insight(index_at(repository, settings.max_file_bytes, keeps=keeps_index), types, tests_of)


def open_archive(
    repository: Repository,
    settings: Settings,
    links: Callable[[], Mapping[str, Sequence[str]]] = dict,
    most_read: int | None = None,
) -> Archive:
    """Return the context archive of a working tree. `links` returns the linked keys by the name of a section.

    With `most_read`, a call reads so many changed notes at most.
    """
    from commonhold.stores.archive.files import MarkdownFiles  # noqa: PLC0415
    from commonhold.stores.archive.sections import SqliteSections  # noqa: PLC0415
    from commonhold.tasks.archive import Archive  # noqa: PLC0415
    from commonhold.workspace.git.process import Git  # noqa: PLC0415

    files = WorkingTree(repository.root, git_dir=repository.git_dir, max_file_bytes=settings.max_file_bytes)
    git = Git(repository.root) if repository.git_dir else None
    return Archive(MarkdownFiles(files, git), SqliteSections(repository.state_folder, files.root), links, most_read)


def open_predictor(repository: Repository, settings: Settings, progress: Progress) -> Predictor:
    """Return the predictor of the files that tasks change, from the index, the files and the past commits as they are.

    The first call in a repository reads all of its files, and reports `progress`.
    """
    from commonhold.index.index import index_at  # noqa: PLC0415
    from commonhold.tasks.prediction import MOST_COMMITS, PastCommit, Predictor, Project  # noqa: PLC0415
    from commonhold.workspace.git.past_commits import past_commits  # noqa: PLC0415
    from commonhold.workspace.git.process import Git  # noqa: PLC0415
    from commonhold.workspace.git.tracked_files import all_files  # noqa: PLC0415

    index = index_at(repository, settings.max_file_bytes)
    try:
        library = index.library(progress)
        if repository.git_dir is None:
            return Predictor(Project(sorted(library.paths), library, ()))
        git = Git(repository.root)
        history = [PastCommit(message, paths) for message, paths in past_commits(git, MOST_COMMITS)]
        return Predictor(Project(sorted(library.paths.union(all_files(git))), library, history))
    finally:
        index.close()


def _find_notes(
    repository: Repository, settings: Settings, keys: Sequence[str], words: str, links: str | None
) -> tuple[NoteQuote, ...]:
    """Return the quotations for a refusal."""
    from commonhold.kernel.answers import NoteQuote  # noqa: PLC0415
    from commonhold.tasks.linking import read_links  # noqa: PLC0415

    archive = open_archive(repository, settings, lambda: read_links(links), READ_FOR_A_REFUSAL)
    try:
        found = archive.relevant(keys, words, QUOTED_TOKENS)
    finally:
        archive.close()
    return tuple(NoteQuote(each.section.name, each.section.title, each.why, each.text, each.is_cut) for each in found)


def _search_notes(repository: Repository, settings: Settings, words: str) -> tuple[NoteQuote, ...]:
    from commonhold.kernel.answers import NoteQuote  # noqa: PLC0415

    archive = open_archive(repository, settings)
    try:
        found = archive.beginnings() if not words.strip() else [each.section for each in archive.search(words)]
    finally:
        archive.close()
    most = CHARACTERS_OF_A_SECTION
    return tuple(NoteQuote(each.name, each.title, "", each.text[:most], len(each.text) > most) for each in found)


def _tests_of(root: str, command: str, paths: Sequence[str]) -> Check:
    """Return the check that runs the tests at these paths on a copy of the working tree."""
    from commonhold.workspace.checks import TESTS, CommandCheck  # noqa: PLC0415
    from commonhold.workspace.git.process import Git  # noqa: PLC0415
    from commonhold.workspace.git.working_copy import WorkingCopy  # noqa: PLC0415

    return CommandCheck(command.replace(TESTS, shlex.join(paths)), WorkingCopy(Git(root)), worktree=root)


def name_of(repository: Repository) -> str:
    """Return the name under which a repository's leases are shared, unless the settings name one: its folder's."""
    place = Path(repository.state_folder).parent
    return (place.parent if place.name == ".git" else place).name


def open_registry(url: str, namespace: str, folder: str) -> Registry:
    """Return the leases at a URL. The newest event that this machine has seen there is kept in `folder`.

    Raises InputError `STORE_URL_INVALID`, StoreError if the store cannot be used.
    """
    try:
        scheme = urlsplit(url).scheme if url.isprintable() else ""
    except ValueError:
        scheme = ""
    seen = Seen(place_of(folder, url, namespace) if scheme else "")
    if scheme == "sqlite" and url != "sqlite:":
        return TableRegistry(SqliteStore(url.removeprefix("sqlite:")), SystemClock())
    if scheme in ("postgresql", "postgres"):
        # An extra: psycopg may be missing, and open_postgres says so.
        from commonhold.stores.postgres import open_postgres  # noqa: PLC0415

        tables = open_postgres(url, namespace, seen=seen)
        from commonhold.stores.postgres.registry import PostgresRegistry  # noqa: PLC0415

        return PostgresRegistry(tables)
    if scheme in ("redis", "rediss", "unix"):
        from commonhold.stores.redis import open_redis  # noqa: PLC0415 - an extra: redis may be missing

        return open_redis(url, namespace, seen=seen)
    raise InputError(
        Code.STORE_URL_INVALID,
        f"there is no store of the kind {scheme!r}" if scheme else f"{url[:40]!r} is no URL of a store",
        hint="give sqlite:FOLDER, postgresql://HOST/DATABASE or redis://HOST",
        fields={"scheme": scheme},
    )
