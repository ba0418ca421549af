"""From a path to a session for asyncio; apart from the blocking one, which need not wait for the import of asyncio."""

from collections.abc import Mapping
from typing import Unpack

from commonhold.client.async_session import AsyncCommonhold
from commonhold.client.external_values import Resolver, Resolvers
from commonhold.client.opening import Choices, find_channel


def open_async(
    path: str = ".",
    *,
    agent: str | None = None,
    resolvers: Mapping[str, Resolver] | None = None,
    **choices: Unpack[Choices],
) -> AsyncCommonhold:
    """As `open_session`, for asyncio."""
    root, channel = find_channel(path, agent, choices)
    return AsyncCommonhold(channel, root=root, agent=agent, resolvers=Resolvers(resolvers or {}))
