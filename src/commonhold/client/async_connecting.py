"""From the address of a server to a session for asyncio."""

import asyncio
from collections.abc import Mapping

from commonhold.client.async_session import AsyncCommonhold
from commonhold.client.channel import HANDOVER_SECONDS
from commonhold.client.connecting import open_channel
from commonhold.client.external_values import Resolver, Resolvers
from commonhold.client.http_channel import Address


async def connect_async(
    url: str,
    *,
    token: str,
    agent: str | None = None,
    ca_file: str | None = None,
    resolvers: Mapping[str, Resolver] | None = None,
    patience_seconds: float = HANDOVER_SECONDS,
) -> AsyncCommonhold:
    """As `connect`, for asyncio."""
    root, channel = await asyncio.to_thread(open_channel, Address(url, token, ca_file), agent, patience_seconds)
    return AsyncCommonhold(channel, root=root, agent=agent, resolvers=Resolvers(resolvers or {}))
