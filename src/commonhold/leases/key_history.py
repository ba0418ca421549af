"""The history of a key: the commits on the regions that it covers."""

from collections.abc import Iterator
from typing import Final

from commonhold.kernel.events import Committed, Recorded
from commonhold.kernel.keys import FILE, Key, canonical, contains
from commonhold.kernel.pictures import Change
from commonhold.kernel.ports import Reader

HISTORY: Final = 200


def changes_on(reader: Reader, key: Key) -> Iterator[Change]:
    """Return the commits on regions within `key`, newest first."""
    if key.scheme != FILE:
        return iter(())
    if key.is_folder:
        commits = reader.commits_below("/".join((*key.path, "")), HISTORY)
    else:
        commits = reader.commits_on(key.file_path, HISTORY)
    return (
        change_of(recorded, commit)
        for recorded, commit in commits
        if any(contains(key, canonical(change.key)) for change in commit.regions)
    )


def change_of(recorded: Recorded, commit: Committed) -> Change:
    """Return a commit in the form that answers a question about a path."""
    keys = tuple(change.key for change in commit.regions)
    return Change(recorded.sequence, recorded.at, commit.holder, commit.intent, keys)
