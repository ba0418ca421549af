"""The reply to a hook that was not answered in time: the cause of the delay, as far as it is known."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from commonhold.agents.hook_events import AboutToEdit, Happening, IntendedWrite, Whole, is_about
from commonhold.agents.runtime.agent_messages import BY_COMMAND

LARGE_BYTES: Final = 200_000
"""A change of a smaller file is judged in a second or two."""


def why_late(happening: Happening, seconds: float) -> str:
    """Return why there is no answer after so many seconds, and the one next step."""
    wishes = happening.wishes if isinstance(happening, AboutToEdit) else ()
    why, step = too_long(wishes, happening.cwd), BY_COMMAND
    if not why:
        why, step = "others were waited for, or much else is being decided", "try again in a moment"
    return f"it was not decided within {seconds:g} seconds, since {why}. Next: {step}"


def too_long(wishes: Iterable[IntendedWrite], folder: str) -> str:
    """Return that a file is too large to be judged in time; empty if none is."""
    sizes: list[tuple[int, str]] = []
    for wish in wishes:
        if isinstance(wish, Whole):
            sizes.append((len(wish.content), wish.path))
        sizes += ((_size(Path(folder, path)), path) for path in is_about((wish,)))
    size, path = max(sizes, default=(0, ""))
    return (
        (f"the effects of a change to {path} take too long to find: it has {size:,} bytes")
        if size >= LARGE_BYTES
        else ""
    )


def _size(place: Path) -> int:
    try:
        return place.stat().st_size
    except (OSError, ValueError):
        return 0
