"""Contracts that hold on each side of a file and break in the merged text.

The answer is that of `code.analysis.repository.contract_conflicts`, which checks of branches use as well. It costs a
summary of the file, so it is computed only if one side changed the file's interface and the other may use that.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.contract_conflicts import (
    Conflict,
    JoinedStates,
    SideName,
    SideState,
    contract_conflicts,
)
from commonhold.code.analysis.repository.languages import LINKED
from commonhold.code.analysis.repository.library import Shelf
from commonhold.code.analysis.repository.recent_summaries import recent_summary
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.regions.language import Language
from commonhold.merging.changed_rows import WORD
from commonhold.merging.cross_file_interference import FileChange
from commonhold.merging.interference import Delta, is_function, is_offer
from commonhold.merging.layout import Element
from commonhold.merging.line_maps import LineMap
from commonhold.merging.verdict import NOWHERE, Lines, Reason, Spot

_EVERYTHING: Final = b"*"  # the name that a star import defines


def broken_contracts(versions: tuple[bytes, bytes, bytes], merged: bytes, path: str) -> list[Spot]:
    """Return a spot for each place of the merged file that depends on a contract which the other side changed."""
    base = recent_summary(path, versions[0])
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
    return Shelf({path: recent_summary(path, text) or like})


def binding(conflicts: Iterable[Conflict]) -> Iterator[Conflict]:
    """Yield the conflicts for which a check of branches refuses: those that are more than suspected."""
    return (each for each in conflicts if each.concern.evidence is not Evidence.SUSPICION)


def reason_of(conflict: Conflict) -> Reason:
    """Return whether the place depends on something that is gone, or on something that still exists and changed."""
    return Reason.DANGLING if conflict.concern.is_broken and "gone" in conflict.concern.what else Reason.INTERFERES


def _spot(conflict: Conflict, maps: Mapping[SideName, LineMap]) -> Spot:
    concern = conflict.concern
    ours, theirs = (_lines(maps[name].to_side(concern.path, concern.line)) for name in SideName)
    return Spot(reason_of(conflict), concern.why(f"line {concern.line} of the merge"), ours=ours, theirs=theirs)


def _lines(line: int | None) -> Lines:
    return NOWHERE if line is None else (line - 1, line)


def may_break(ours: FileChange, theirs: FileChange, language: Language) -> bool:
    """Return whether one side changed the file's interface in a way that the other side may use.

    Statements in a body change no contract. All other changes matter to code that writes one of the changed names, or
    the name of a definition related to them: a subclass, an alias, a function that passes its arguments on.
    """
    return language.name in LINKED and (_offers_to(ours, theirs) or _offers_to(theirs, ours))


def _offers_to(offering: FileChange, using: FileChange) -> bool:
    names = {name for each in offering.deltas if is_offer(each) for name in _offered_by(each)}
    if not names:
        return False
    written = {word for each in using.deltas for word in WORD.findall(each.element.text)}
    if _EVERYTHING in names or not names.isdisjoint(written):
        return True
    return not _related(names, (offering.after, using.after)).isdisjoint(written)


def _offered_by(delta: Delta) -> Iterator[bytes]:
    """Yield the names that a change concerns: those that it defines, and the classes that it stands in."""
    defined = delta.effects.defines | delta.before.defines
    named = {each.name for each in (delta.old, delta.element, *delta.scope) if each is not None and each.name}
    plain = {name.lstrip(b".").partition(b"(")[0] for name in defined | named}
    if delta.is_import or delta.element.is_definition or defined:
        yield from plain
    else:
        yield from plain.union(WORD.findall(delta.element.text))


def _related(names: Collection[bytes], versions: Sequence[Element]) -> set[bytes]:
    """Return the names of definitions that mention some names: classes, values, functions that pass arguments on."""
    known = [
        (defined, frozenset(WORD.findall(each.text)))
        for version in versions
        for each in version.children
        if not is_function(each) or b"*" in each.text
        for defined in [frozenset([each.name]) if each.name else frozenset(WORD.findall(each.text.partition(b"=")[0]))]
    ]
    found = set(names)
    while True:
        more = {name for defined, words in known if not words.isdisjoint(found) for name in defined} - found
        if not more:
            return found - set(names)
        found |= more
