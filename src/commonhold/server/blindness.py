"""Which files a tool overwrites without naming what is there."""

from collections.abc import Iterable, Iterator

from commonhold.app.happenings import Patched, Removed, Whole, Wish


def overwritten_blindly(wishes: Iterable[Wish]) -> tuple[str, ...]:
    """The paths of files that are replaced, moved onto or removed as a whole: who does so must know what was there."""
    return tuple(dict.fromkeys(path for wish in wishes for path in _blind(wish)))


def _blind(wish: Wish) -> Iterator[str]:
    if isinstance(wish, Whole | Removed):
        yield wish.path
    elif isinstance(wish, Patched) and wish.to:
        yield wish.to
