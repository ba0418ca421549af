"""What is told where somebody has written over what another holds: to who holds it, and to who has written. Pure."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from commonhold.domain.events import Committed, FileChange
from commonhold.domain.keys import canonical
from commonhold.domain.lease import Conflict
from commonhold.domain.texts import NOBODY, listed, quoted, short_name

_MOST: Final = 8
_DIGITS: Final = 16
"""Of a hash, as many as `commonhold show` wants at least."""


def by_holder(conflicts: Iterable[Conflict], writer: str) -> dict[str, list[Conflict]]:
    """What each other session holds of it; a session and its subagents are no others to each other."""
    found: dict[str, list[Conflict]] = {}
    for each in conflicts:
        if not each.is_waiting and each.holder.partition("/")[0] != writer.partition("/")[0]:
            found.setdefault(each.holder, []).append(each)
    return found


def told_to_holder(held: Sequence[Conflict], commit: Committed) -> str:
    """What who holds it is told: what was written over, by whom and what for, and how to have it back."""
    by = "somebody without a session here" if commit.holder == NOBODY else short_name(commit.holder)
    why = f" ({commit.intent})" if commit.intent else ""
    return f"{_keys(held)}, which you hold, was written over by {by}{why}; {_back(held, commit)}"


def told_to_writer(held: Sequence[Conflict], commit: Committed) -> str:
    """What who has written is told: whose it is, and how to give it back."""
    task = f" for {quoted(held[0].task)}" if held[0].task else ""
    holder = short_name(held[0].holder)
    return f"{holder} holds {_keys(held)}{task}, and is told that you wrote over it; {_back(held, commit)}"


def _keys(held: Sequence[Conflict]) -> str:
    return listed(list(dict.fromkeys(each.key for each in held)), _MOST)


def _back(held: Sequence[Conflict], commit: Committed) -> str:
    paths = {canonical(each.key).file_path for each in held}
    ways = [_way(file) for file in commit.files if file.path in paths][:_MOST]
    return f"what was there is kept, and comes back with {', '.join(ways)}"


def _way(file: FileChange) -> str:
    words = (
        ("rm", file.path) if file.before is None else ("commonhold", "show", file.before[:_DIGITS], "--to", file.path)
    )
    return f"`{shlex.join(words)}`"
