"""Estimate whether a command wrote a file, beyond the words of the command: by hard links, times and holders."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from commonhold.agents.runtime.shell_run import Run
from commonhold.commits.external.candidate_writers import ReachOf
from commonhold.shell.held_paths import Holding
from commonhold.shell.reach import Reach

_SLACK_NS: Final = 20_000_000
"""File systems take the time of a change from a clock that ticks every few milliseconds."""


def reach_by_links(run: Run, paths: Collection[str]) -> ReachOf:
    """Return how likely a command wrote each of some paths.

    A path that it must not write counts like another name (hard link) of the same file that it may have written.
    """
    nodes = {path: _linked_node(run.session.root, path) for path in paths}
    written = {node: reach for path, node in nodes.items() if (reach := run.reach(path)) and node is not None}
    return lambda path: (
        run.reach(path) or max((reach for node, reach in written.items() if node == nodes[path]), default=Reach.NOTHING)
    )


def _linked_node(root: str, path: str) -> tuple[int, int] | None:
    """Return the identity of a file with several names; None if it has one name, or does not exist."""
    with suppress(OSError):
        status = Path(root, path).lstat()
        return (status.st_dev, status.st_ino) if status.st_nlink > 1 else None
    return None


def rivals(run: Run, others: Sequence[Run]) -> list[ReachOf]:
    """Return how likely others wrote a path: a command that began after the last change did not."""

    def reach_of(other: Run) -> ReachOf:
        def reach(path: str) -> Reach:
            is_later = other.begun_ns > _changed_ns(run.session.root, path) + _SLACK_NS
            return Reach.NOTHING if is_later else other.reach(path)

        return reach

    return [*map(reach_of, others), *([run.reach] if run.is_doubtful else [])]


def _changed_ns(root: str, path: str) -> int:
    """Return the time of a file's last change; if the file is gone, that of the nearest folder above it."""
    place = Path(root, path)
    for each in (place, *place.parents):
        with suppress(OSError):
            return each.lstat().st_ctime_ns
    return 0


def is_after_end(run: Run, path: str) -> bool:
    """Whether a path was changed after the command had ended; a launcher that reports late says when that was."""
    return bool(run.ended_ns) and _changed_ns(run.session.root, path) > run.ended_ns + _SLACK_NS


def at_it(theirs: Sequence[Holding], running: Collection[str]) -> list[Holding]:
    """Return others' holdings that they may be writing at this moment: with their tool, or with a command."""
    return [each for each in theirs if each.is_slot or each.is_of_command or each.holder in running]
