"""From the address of a server to a session."""

from collections.abc import Mapping

from commonhold.client.channel import HANDOVER_SECONDS
from commonhold.client.external_values import Resolver, Resolvers
from commonhold.client.http_channel import Address, HttpChannel
from commonhold.client.session import Commonhold
from commonhold.kernel import texts


def connect(
    url: str,
    *,
    token: str,
    agent: str | None = None,
    ca_file: str | None = None,
    resolvers: Mapping[str, Resolver] | None = None,
    patience_seconds: float = HANDOVER_SECONDS,
) -> Commonhold:
    """Return the session of `agent` on the repository that a server serves at `url`; it behaves as that of `open`.

    `token` is from `commonhold token issue`. `ca_file` has the certificates to trust, in PEM form, by default those of
    the system. `resolvers` are as for `open`. A call whose answer is lost is repeated, for `patience_seconds` while the
    server restarts, and takes effect once. Raises UsageError `TOKEN_INVALID`, StoreError `SERVER_UNREACHABLE`.
    """
    root, channel = open_channel(Address(url, token, ca_file), agent, patience_seconds)
    return Commonhold(channel, root=root, agent=agent, resolvers=Resolvers(resolvers or {}))


def open_channel(address: Address, agent: str | None, patience_seconds: float) -> tuple[str, HttpChannel]:
    """Return the root of the working tree that is served at an address, and the channel of `agent` to it.

    The server must answer now; later calls are repeated for `patience_seconds`.
    """
    if agent is not None:
        texts.check_holder(agent)
    first = HttpChannel(address, None, patience_seconds=0.0)
    try:
        root: str = first.call("status", (), {}).root
    finally:
        first.close()
    return root, HttpChannel(address, agent, patience_seconds)
