"""Leases on a Redis server: the fast store that many machines share."""

from collections.abc import Callable

from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.lease_ports import Registry
from commonhold.stores.seen import Seen


def _no_skew() -> float:
    return 0.0


def open_redis(url: str, namespace: str, *, skew: Callable[[], float] = _no_skew, seen: Seen | None = None) -> Registry:
    """Return the leases of `namespace` on the server at `url`: `redis://`, `rediss://` or `unix://`.

    Nothing is sent before the first call. `skew` is seconds added to the server's clock, for tests that move time.
    `seen` is the newest event that this machine has seen; without it only this process remembers it. Raises InputError
    `STORE_URL_INVALID`, and UsageError `USAGE` if the package `redis` is not installed.
    """
    try:
        # Only users of Redis need its client, and pay for importing it.
        from commonhold.stores.redis.registry import RedisRegistry  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        raise UsageError(
            Code.USAGE,
            f"leases cannot be kept on Redis: the package {fault.name!r} is not installed",
            hint="install it with: pip install 'commonhold[redis]'",
            fields={"package": fault.name},
        ) from fault
    return RedisRegistry(url, namespace, skew, seen or Seen())


__all__ = ["open_redis"]
