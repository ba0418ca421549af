"""The messages to the holder and to the writer after a held region was overwritten. Pure."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from commonhold.commits.external.restore_command import way_back
from commonhold.kernel.events import Committed, FileChange
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Conflict
from commonhold.kernel.texts import NOBODY, listed, quoted, short_name

_MOST: Final = 8
_DIGITS: Final = 16
"""The least number of hash digits that `commonhold show` accepts."""


def by_holder(conflicts: Iterable[Conflict], writer: str) -> dict[str, list[Conflict]]:
    """Return the conflicting leases of other sessions; a session and its subagents count as one."""
    found: dict[str, list[Conflict]] = {}
    for each in conflicts:
        if not each.is_waiting and each.holder.partition("/")[0] != writer.partition("/")[0]:
            found.setdefault(each.holder, []).append(each)
    return found


def told_to_holder(held: Sequence[Conflict], commit: Committed) -> str:
    """Return the message to the holder: the overwritten keys, the writer and its intent, and how to restore them."""
    by = "a program without a session here" if commit.holder == NOBODY else short_name(commit.holder)
    why = f" ({commit.intent})" if commit.intent else ""
    return f"{_keys(held)}, which you hold, was overwritten by {by}{why}; {_told(_by_region(held, commit))}"


def told_to_writer(held: Sequence[Conflict], commit: Committed) -> str:
    """Return the message to the writer: the holder, and how to restore the text."""
    task = f" for {quoted(held[0].task)}" if held[0].task else ""
    holder = short_name(held[0].holder)
    return (
        f"{holder} holds {_keys(held)}{task}, and gets a notice that you overwrote it; {_told(_by_file(held, commit))}"
    )


def _keys(held: Sequence[Conflict]) -> str:
    return listed(list(dict.fromkeys(each.key for each in held)), _MOST)


def _told(ways: Iterable[str]) -> str:
    return f"the old text is kept; restore it with {', '.join(f'`{way}`' for way in ways)}"


def _by_region(held: Sequence[Conflict], commit: Committed) -> list[str]:
    """Return the holder's commands for restoring: of regions alone, as others may have changed the rest since."""
    regions = {each.key: each for each in commit.regions if each.before and canonical(each.key).is_region}
    keys = dict.fromkeys(each.key for each in held)
    was = {key: regions[key].before or "" for key in keys if key in regions}
    found = [way_back(key, before, regions[key].after, held[0].holder) for key, before in was.items()]
    rest = _by_file([each for each in held if each.key not in regions], commit)
    return [*found, *rest][:_MOST]


def _by_file(held: Sequence[Conflict], commit: Committed) -> list[str]:
    """Return the commands for restoring whole files."""
    paths = {canonical(each.key).file_path for each in held}
    return [_way(file) for file in commit.files if file.path in paths][:_MOST]


def _way(file: FileChange) -> str:
    words = (
        ("rm", file.path) if file.before is None else ("commonhold", "show", file.before[:_DIGITS], "--to", file.path)
    )
    return shlex.join(words)
