"""Find the work of others that came after commits, and bears on their undo."""

from collections.abc import Iterator, Sequence

from commonhold.commits.undo.answers import LaterWork
from commonhold.commits.undo.inverse import Hindrance
from commonhold.commits.undo.selection import Made, Selected
from commonhold.kernel.events import Committed
from commonhold.kernel.keys import Key, canonical, contains
from commonhold.kernel.ports import Reader
from commonhold.kernel.texts import short_name
from commonhold.leases.key_history import HISTORY


def built_on(selected: Selected, path: str, hindrance: Hindrance) -> Iterator[LaterWork]:
    """Yield the later commits to a file whose changes the merge cannot separate from those to undo.

    Each with the regions that both have changed; with all that it has changed there if there are no such regions.
    """
    later = selected.later(path, hindrance.run.oldest)
    changed = {key for each in selected.live for key in _regions(each.commit, path)}
    for each in later:
        keys = _regions(each.commit, path)
        for key in [key for key in keys if key in changed] or keys:
            yield _work(each, key, f"changed by {short_name(each.commit.holder)} since")
    if not later and not hindrance.lost:
        yield LaterWork(path, "changed since, outside Commonhold")


def kept_beside(selected: Selected) -> tuple[LaterWork, ...]:
    """Return the later changes of others to regions that the undone commits had changed: the undo keeps them."""
    found: dict[tuple[str, int], LaterWork] = {}
    for made in selected.live:
        for path in dict.fromkeys(file.path for file in made.commit.files):
            changed = set(_regions(made.commit, path))
            for each in selected.later(path, made.sequence):
                for key in _regions(each.commit, path):
                    if key in changed:
                        why = f"{short_name(each.commit.holder)} has changed it since, and that is kept"
                        found[key, each.sequence] = _work(each, key, why)
    return tuple(found.values())


def last_change(reader: Reader, worktree: str, selected: Selected, key: Key, why: str) -> LaterWork:
    """Return the last commit there that changed something within `key`, other than those to undo, with that reason."""
    undone = {each.sequence for each in selected.commits}
    for recorded, commit in reader.commits_on(key.file_path, HISTORY):
        if commit.worktree != worktree or recorded.sequence in undone:
            continue
        if any(contains(key, canonical(change.key)) for change in commit.regions):
            return _work(Made(recorded, commit), str(key), why)
    return LaterWork(str(key), why)


def _work(made: Made, key: str, why: str) -> LaterWork:
    return LaterWork(key, why, made.commit.holder, made.sequence, made.commit.intent)


def _regions(commit: Committed, path: str) -> Sequence[str]:
    """Return the innermost regions of a file that a commit changed; the file itself if it names none."""
    changed = [each for change in commit.regions if (each := canonical(change.key)).file_path == path]
    inner = [key for key in changed if not any(other != key and contains(key, other) for other in changed)]
    return [str(key) for key in inner] or [path]
