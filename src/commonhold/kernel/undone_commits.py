"""PURE: which commits an undo has taken back."""

from collections.abc import Iterable

from commonhold.kernel.events import Committed, Recorded


def undone_by(commits: Iterable[tuple[Recorded, Committed]]) -> dict[int, int]:
    """Return the undone ones among `commits` (newest first, with all later ones to their files), each with its undo.

    An undo that was itself undone counts for nothing. An undo of only some files of a commit leaves the commit.
    """
    undone: dict[int, int] = {}
    undoing: dict[int, list[tuple[int, set[str]]]] = {}
    for recorded, commit in commits:
        paths = {file.path for file in commit.files}
        for undo, undone_paths in undoing.pop(recorded.sequence, ()):
            if paths <= undone_paths:
                undone.setdefault(recorded.sequence, undo)
        if recorded.sequence not in undone:
            for number in commit.undoes:
                undoing.setdefault(number, []).append((recorded.sequence, paths))
    return undone
