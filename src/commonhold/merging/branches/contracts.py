"""Contracts that break in the merge of two branches: the analysis of `check`, used by `merge`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from commonhold.code.analysis.repository.contract_conflicts import Conflict, SideName, contract_conflicts
from commonhold.code.analysis.repository.summary import Offer
from commonhold.code.indexes import Index
from commonhold.merging.branches.histories import History, Meeting
from commonhold.merging.branches.merged_state import MergedState
from commonhold.merging.branches.semantic_conflicts import Sides, is_linked, sides_of
from commonhold.merging.contracts import binding, reason_of
from commonhold.merging.cross_file_interference import Bearing
from commonhold.merging.tree import Changed
from commonhold.merging.verdict import NOWHERE, Lines, Spot

OpenIndex = Callable[[], AbstractContextManager[Index]]
"""A function that opens the index of the repository; it is called only if an analysis is necessary."""


def broken_contracts(
    history: History,
    open_index: OpenIndex,
    meeting: Meeting,
    tree: str,
    settled: Mapping[str, bytes],
    changed: Sequence[Changed],
) -> list[Bearing]:
    """Return the changes of either side that break a contract on which the other relies, in any file.

    `tree` with the `settled` files in it is the merged state, `changed` are the files that either side changed.
    """
    files = [each for each in changed if is_linked(each.path)]
    if all(each.ours == each.base for each in files) or all(each.theirs == each.base for each in files):
        return []
    with open_index() as index:
        if not _may_break(index, files):
            return []
        sides = sides_of(history, index, meeting, MergedState(tree, settled, settled), files)
        conflicts, _ = contract_conflicts(sides.joined)
        return list(dict.fromkeys(_bearing(sides, each) for each in binding(conflicts)))


def _may_break(index: Index, files: Sequence[Changed]) -> bool:
    """Whether one side changes a definition or import: uses alone break nothing that holds on each side."""
    return any(
        _offers(index, each.path, each.base) != _offers(index, each.path, text)
        for each in files
        for text in (each.ours, each.theirs)
        if text != each.base
    )


def _offers(index: Index, path: str, text: bytes | None) -> object:
    """Return the imports, definitions and exports of a file, regardless of their lines."""
    summary = index.summary(path, text) if text is not None else None
    if summary is None:
        return None
    imports = frozenset(replace(each, line=0) for each in summary.imports)
    return imports, frozenset(map(_placeless, summary.offers)), summary.exports, bool(summary.problem)


def _placeless(offer: Offer) -> Offer:
    return replace(offer, line=0, end_line=0)


def _bearing(sides: Sides, conflict: Conflict) -> Bearing:
    concern, by = conflict.concern, conflict.by
    place = sides.place(concern.path, concern.line)
    why = f"{concern.why(f'`{place.qualname or concern.path}`')} ({concern.path})"
    paths = {by: concern.target_path, by.other: concern.path}
    spot = Spot(reason_of(conflict), why, ours=_lines(place.ours_line), theirs=_lines(place.theirs_line))
    return Bearing(paths[SideName.OURS], paths[SideName.THEIRS], spot)


def _lines(line: int | None) -> Lines:
    return NOWHERE if line is None else (line - 1, line)
