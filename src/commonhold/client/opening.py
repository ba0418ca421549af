"""From a path to a session: find the repository, read its settings, find or start its daemon."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypedDict, Unpack

import commonhold
from commonhold.api.service import Service
from commonhold.api.wire import calls
from commonhold.client.channel import Channel, Daemon, Direct, FallbackTransport
from commonhold.client.external_values import Resolver, Resolvers
from commonhold.client.session import Commonhold
from commonhold.config import is_masked, load_settings
from commonhold.kernel import texts
from commonhold.kernel.arguments import check_arguments
from commonhold.machine.system import process_umask
from commonhold.workspace import daemon_files
from commonhold.workspace.repository import Repository, find_repository

FindChannel = Callable[[str, str | None], tuple[str, Channel]]
"""Returns the root of the repository around a path, and a channel to its service for an agent, or for none."""


class Choices(TypedDict, total=False):
    """The choices of a session; None, or nothing, is as the settings say.

    `store` is the URL of the store of leases (`postgresql://…`, `redis://…`), `namespace` the name that they are shared
    by there, `daemon` whether to use (and start) the process that serves the repository.
    """

    store: str | None
    namespace: str | None
    daemon: bool | None


def open_session(
    path: str = ".",
    *,
    agent: str | None = None,
    resolvers: Mapping[str, Resolver] | None = None,
    **choices: Unpack[Choices],
) -> Commonhold:
    """Return the session of `agent` on the repository around `path`. Without an agent only reading calls are possible.

    `resolvers` read, by key, the external values of free keys. For `choices` see Choices. Nothing is written before the
    first call that has to.
    """
    root, channel = find_channel(path, agent, choices)
    return Commonhold(channel, root=root, agent=agent, resolvers=Resolvers(resolvers or {}))


def open_beside_daemon(path: str, agent: str) -> Commonhold:
    """Return a session that uses the daemon while one runs, and starts none.

    It is for processes that end all that they have started: a daemon must not be among that.
    """
    root, channel = _channel(path, agent, {"daemon": True}, None)
    return Commonhold(channel, root=root, agent=agent, resolvers=Resolvers({}))


def find_channel(path: str, agent: str | None, choices: Choices) -> tuple[str, Channel]:
    """Return the root of the repository around `path`, and the channel to its service."""

    # Loaded here, as below: if a daemon answers, nothing in this process does its work.
    def start(repository: Repository) -> None:
        from commonhold.client import daemon  # noqa: PLC0415

        daemon.start(repository)

    return _channel(path, agent, choices, start)


def _channel(
    path: str, agent: str | None, choices: Choices, start: Callable[[Repository], None] | None
) -> tuple[str, Channel]:
    if agent is not None:
        texts.check_holder(agent)
    check_arguments(choices)
    repository = find_repository(path)
    settings = load_settings(repository.root, **choices)

    def direct() -> Service:
        from commonhold.bootstrap import compose  # noqa: PLC0415

        return compose(repository, settings, agent=agent)

    if not settings.daemon:
        return repository.root, Direct(direct())
    elsewhere = settings.store, settings.namespace
    hello = calls.Hello(calls.PROTOCOL, commonhold.__version__, repository.root, agent, process_umask(), *elsewhere)
    daemon = Daemon(lambda: daemon_files.address(repository.state_folder), hello, repository.state.use)
    # If leases are kept in another store, a daemon makes nothing faster: it is used if it is running, for hooks.
    starts = None if start is None or settings.store or is_masked() else partial(start, repository)
    return repository.root, FallbackTransport(daemon, direct, starts)
