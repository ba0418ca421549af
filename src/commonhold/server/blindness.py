"""Which files a tool overwrites without naming what is there."""

from collections.abc import Iterable

from commonhold.app.happenings import Removed, Whole, Wish


def overwritten_blindly(wishes: Iterable[Wish]) -> tuple[str, ...]:
    """The paths of files that are replaced or removed as a whole: who does so must know what was there."""
    return tuple(dict.fromkeys(wish.path for wish in wishes if isinstance(wish, Whole | Removed)))
