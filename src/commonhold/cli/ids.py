"""Ids as they are typed: the first characters are enough if only one id begins with them."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from commonhold.cli.opening import Place
from commonhold.cli.output import some
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.texts import short_name

_LEASE: Final = "lease-"
_WHOLE: Final = re.compile(r"lease-[0-9a-f]{16}")
_MOST_EVENTS: Final = 10_000
_SESSION: Final = re.compile(r"[\w.-]+:[\w.-]{4,}")


def lease_id(place: Place, typed: str) -> str:
    """Return the id of the live lease or place in line that `typed` begins. Raises UsageError if there are several.

    If there is none, `typed` itself is returned: the answer to it says that there is no such lease.
    """
    return typed if _is_whole(typed) else _only(typed, _beginning(typed, _live(place)), "lease")


def work_id(place: Place, typed: str) -> str:
    """Return the same for the lease of partial work that waits for review."""
    if _is_whole(typed):
        return typed
    return _only(typed, _beginning(typed, (each.lease_id for each in place.hold.partial_works())), "lease")


def past_lease_id(place: Place, typed: str) -> str:
    """Return the same for any lease in the log."""
    return typed if _is_whole(typed) else _only(typed, _beginning(typed, _told(place)), "lease")


def holder(place: Place, typed: str) -> str:
    """Return the agent session whose name is `typed`, or whose name or short name begins so (`claude:26ba`).

    A name without a colon was chosen by a user: it is never taken for the beginning of another.
    """
    status = place.hold.status()
    known = dict.fromkeys(each.holder for group in (status.leases, status.waiters, status.sessions) for each in group)
    return _holder(typed, known)


def past_holder(place: Place, typed: str) -> str:
    """Return the same for any session that has committed something, according to the log."""
    # Loaded here: few commands need the log.
    from commonhold.kernel.events import Committed  # noqa: PLC0415

    events = (recorded.event for recorded in place.hold.log(limit=_MOST_EVENTS))
    return _holder(typed, dict.fromkeys(each.holder for each in events if isinstance(each, Committed)))


def _holder(typed: str, known: Collection[str]) -> str:
    if typed in known or not _SESSION.fullmatch(typed):
        return typed
    return _only(typed, [each for each in known if each.startswith(typed) or short_name(each) == typed], "session")


def _live(place: Place) -> Iterator[str]:
    status = place.hold.status()
    yield from (each.id for each in status.leases)
    yield from (each.id for each in status.waiters)


def _told(place: Place) -> Iterator[str]:
    # Loaded here: the log alone needs it.
    from commonhold.kernel.events import lease_id_of  # noqa: PLC0415

    for recorded in place.hold.log(limit=_MOST_EVENTS):
        if found := lease_id_of(recorded.event):
            yield found


def _is_whole(typed: str) -> bool:
    return _WHOLE.fullmatch(typed) is not None


def _beginning(typed: str, known: Iterable[str]) -> list[str]:
    """Return the known ids that `typed` begins, with `lease-` before it or without; or the one id that equals it."""
    names = dict.fromkeys(known)
    if typed in names:
        return [typed]
    start = typed if typed.startswith(_LEASE) else f"{_LEASE}{typed}"
    return [each for each in names if each.startswith((start, typed))]


def _only(typed: str, found: list[str], what: str) -> str:
    """Return the one that was found; `typed` itself if there is none. Raises UsageError if there are several."""
    if len(found) > 1:
        raise UsageError(
            Code.USAGE,
            f"{typed!r} is the beginning of {len(found)} {what}s: {some(found)}",
            hint="type more of it",
            fields={"id": typed, "candidates": found},
        )
    return found[0] if found else typed
