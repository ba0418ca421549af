"""Two sides that edit the same files, and where they interact."""

from collections.abc import Mapping

from tests.unit.code.analysis.repository.shelves import shelf

from commonhold.code.analysis.repository.changed_bodies import touched
from commonhold.code.analysis.repository.interacting_changes import InteractingChange, crossings

Files = Mapping[str, str]
Edits = Mapping[str, tuple[str, str]]
"""What a side replaces in a file, and by what."""


def edited(files: Files, edits: Edits) -> dict[str, str]:
    """The files with a side's edits. Fails where a file does not have the text to be replaced."""
    assert all(old in files[path] for path, (old, _) in edits.items())
    return {path: text.replace(*edits[path], 1) if path in edits else text for path, text in files.items()}


def found(files: Files, ours: Edits, theirs: Edits) -> tuple[InteractingChange, ...]:
    """Where two sides interact."""
    sides = [edited(files, edits) for edits in (ours, theirs)]
    changed = [
        {path: touched(path, files[path].encode(), side[path].encode()) for path in edits}
        for side, edits in zip(sides, (ours, theirs), strict=True)
    ]
    return crossings(shelf(edited(edited(files, ours), theirs)), *changed)
