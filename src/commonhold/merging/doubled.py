"""Things that a merge has more often than each of its versions: both sides added them."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing", bound=Hashable)
Version = TypeVar("Version")


def doubled(
    merged: Version, versions: Iterable[Version], things_of: Callable[[Version], Iterable[Thing]]
) -> list[Thing]:
    """Return the things that stand more than once in the merge, and more often than in any version, in its order.

    The versions are read only if the merge has anything more than once.
    """
    now = Counter(things_of(merged))
    several = [thing for thing, count in now.items() if count > 1]
    known = [Counter(things_of(each)) for each in versions] if several else []
    return [thing for thing in several if now[thing] > max(each[thing] for each in known)]
