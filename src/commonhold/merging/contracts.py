"""Contracts that hold on each side of a file and break in what is merged of both.

The answer is that of `linking.contract_conflicts`, which checks of branches ask as well. It costs a summary of the
file, so that it is only asked where one side changed what the file offers and the other may use that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from commonhold.linking.contract_conflicts import (
    Conflict,
    JoinedStates,
    SideName,
    SideState,
    contract_conflicts,
)
from commonhold.linking.languages import linked
from commonhold.linking.library import Shelf
from commonhold.linking.summarise import summarise
from commonhold.linking.summary import Summary
from commonhold.merging.interference import Delta, is_offer
from commonhold.merging.line_maps import LineMap
from commonhold.merging.verdict import NOWHERE, Lines, Reason, Spot
from commonhold.regions.language import Language
from commonhold.semantics.evidence import Evidence

_WORD: Final = re.compile(rb"\w+")
_EVERYTHING: Final = b"*"  # what a star import gives a value


def broken_contracts(versions: tuple[bytes, bytes, bytes], merged: bytes, path: str) -> list[Spot]:
    """Return a spot for each place of the merged file that counts on a contract which the other side changed."""
    base = summarise(path, versions[0])
    if base is None:
        return []
    maps = {name: LineMap(partial(_texts, merged, text)) for name, text in zip(SideName, versions[1:], strict=True)}
    ours, theirs = (
        SideState(_shelf(path, text, base), frozenset({path}), frozenset({path}), maps[name].to_side)
        for name, text in zip(SideName, versions[1:], strict=True)
    )
    joined = JoinedStates(Shelf({path: base}), ours, theirs, _shelf(path, merged, base))
    conflicts, _ = contract_conflicts(joined)
    return list(dict.fromkeys(_spot(each, maps) for each in binding(conflicts)))


def _texts(merged: bytes, side: bytes, _path: str) -> tuple[bytes, bytes]:
    return merged, side


def _shelf(path: str, text: bytes, like: Summary) -> Shelf:
    return Shelf({path: summarise(path, text, like) or like})


def binding(conflicts: Iterable[Conflict]) -> Iterator[Conflict]:
    """The conflicts that a check of the branches refuses: those that are more than suspected."""
    return (each for each in conflicts if each.concern.evidence is not Evidence.SUSPICION)


def reason_of(conflict: Conflict) -> Reason:
    """Whether the place counts on something that is gone, or on what is still there and different."""
    return Reason.DANGLING if conflict.concern.is_broken and "gone" in conflict.concern.what else Reason.INTERFERES


def _spot(conflict: Conflict, maps: Mapping[SideName, LineMap]) -> Spot:
    concern = conflict.concern
    ours, theirs = (_lines(maps[name].to_side(concern.path, concern.line)) for name in SideName)
    return Spot(reason_of(conflict), concern.why(f"line {concern.line} of what is merged"), ours=ours, theirs=theirs)


def _lines(line: int | None) -> Lines:
    return NOWHERE if line is None else (line - 1, line)


def may_break(ours: Sequence[Delta], theirs: Sequence[Delta], language: Language) -> bool:
    """Return whether one side changed what the file offers in a way that the other side may use.

    Statements in a body change no contract. A new definition matters to those who write its name; any other change of a
    head, a class or the top level may matter to code that names something else, by way of heirs and aliases.
    """
    if linked(language.name) is None:
        return False
    return _offers_to(ours, theirs) or _offers_to(theirs, ours)


def _offers_to(offering: Sequence[Delta], using: Sequence[Delta]) -> bool:
    offered = [each for each in offering if is_offer(each)]
    if not all(map(_is_new, offered)):
        return bool(using)
    names = {name for each in offered for name in each.effects.defines}
    return _EVERYTHING in names or any(not names.isdisjoint(_WORD.findall(each.element.text)) for each in using)


def _is_new(delta: Delta) -> bool:
    """Whether it only adds a name to the top level."""
    return not delta.scope and delta.old is None and not delta.is_gone and not delta.is_head
