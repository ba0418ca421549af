"""How likely a command has written a file, beside what its words tell: by other names of it, by times, by holders."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from commonhold.app.attribution import ReachOf
from commonhold.app.held_paths import Holding
from commonhold.app.shell_reach import Reach
from commonhold.server.shell_run import Run

_SLACK_NS: Final = 20_000_000
"""File systems take the time of a change from a clock that ticks every few milliseconds."""


def reach_by_links(run: Run, paths: Collection[str]) -> ReachOf:
    """How likely a command has written some paths: what it was kept from as well, by another name of that file."""
    nodes = {path: _linked_node(run.session.root, path) for path in paths}
    written = {node: reach for path, node in nodes.items() if (reach := run.reach(path)) and node is not None}
    return lambda path: (
        run.reach(path) or max((reach for node, reach in written.items() if node == nodes[path]), default=Reach.NOTHING)
    )


def _linked_node(root: str, path: str) -> tuple[int, int] | None:
    """What tells a file with several names from others; None where it has one name, or is not there."""
    with suppress(OSError):
        status = Path(root, path).lstat()
        return (status.st_dev, status.st_ino) if status.st_nlink > 1 else None
    return None


def rivals(run: Run, others: Sequence[Run]) -> list[ReachOf]:
    """How likely others have written a path: one that has begun after its last change has not."""

    def reach_of(other: Run) -> ReachOf:
        def reach(path: str) -> Reach:
            is_later = other.begun_ns > _changed_ns(run.session.root, path) + _SLACK_NS
            return Reach.NOTHING if is_later else other.reach(path)

        return reach

    return [*map(reach_of, others), *([run.reach] if run.is_doubtful else [])]


def _changed_ns(root: str, path: str) -> int:
    """When a file was changed last; of one that is gone, the folder that it was in."""
    place = Path(root, path)
    for each in (place, *place.parents):
        with suppress(OSError):
            return each.lstat().st_ctime_ns
    return 0


def is_after_end(run: Run, path: str) -> bool:
    """Whether a path was changed after the command had ended, as its launcher says that reports it late."""
    return bool(run.ended_ns) and _changed_ns(run.session.root, path) > run.ended_ns + _SLACK_NS


def at_it(theirs: Sequence[Holding], running: Collection[str]) -> list[Holding]:
    """What others hold and may just be writing themselves: by their tool, or by a command."""
    return [each for each in theirs if each.is_slot or each.is_of_command or each.holder in running]
