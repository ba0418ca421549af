"""The laws of a merge, to be checked on any three versions."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from commonhold.code.regions.syntax import problem_in
from commonhold.merging.candidates import MAX_CANDIDATES
from commonhold.merging.merge import merge
from commonhold.merging.result_checks import fault_in
from commonhold.merging.verdict import Proven, Reason, Unproven

_MARK: Final = re.compile(rb"(?:<{7} ours|={7}|>{7} theirs)\r?\n")
_TOKEN: Final = re.compile(rb"\w+|[^\w\s]")


def check_laws(base: bytes, ours: bytes, theirs: bytes, path: str) -> Proven | Unproven:
    """Every law that holds of any versions; the answer, to be asked for more."""
    _check_one_sided(base, ours, theirs, path)
    answer, mirrored = merge(base, ours, theirs, path), merge(base, theirs, ours, path)
    assert merge(base, ours, theirs, path) == answer, "asked again, it answers the same"
    if isinstance(answer, Proven):
        assert mirrored == answer, "with the sides exchanged it is the same text"
        _check_proven(answer, base, ours, theirs, path)
    else:
        assert isinstance(mirrored, Unproven)
        _check_unproven(answer, mirrored, base, ours, theirs)
    return answer


def _check_one_sided(base: bytes, ours: bytes, theirs: bytes, path: str) -> None:
    """Identity, and idempotence."""
    for side in (ours, theirs):
        assert merge(base, base, side, path) == Proven(side)
        assert merge(base, side, base, path) == Proven(side)
        assert merge(base, side, side, path) == Proven(side)


def _check_proven(answer: Proven, base: bytes, ours: bytes, theirs: bytes, path: str) -> None:
    """Absorption, soundness, and nothing lost: what a side wrote or took away is there, or gone.

    Which of two equal lines a side took out is not to be told, so that absorption needs a base without any.
    """
    filled = _lines(base)
    for side in (ours, theirs) if len({*filled}) == len(filled) else ():
        again = merge(base, answer.source, side, path)
        assert not isinstance(again, Proven) or again.source == answer.source
    if not any(problem_in(side, path) for side in (ours, theirs)):
        assert problem_in(answer.source, path) is None
    if ours not in (base, theirs) and theirs != base:
        assert fault_in(answer.source, (base, ours, theirs), path) is None


def _check_unproven(answer: Unproven, mirrored: Unproven, base: bytes, ours: bytes, theirs: bytes) -> None:
    assert answer.spots, "a refusal says why"
    assert all(spot.why for spot in answer.spots)
    assert Counter(spot.reason for spot in answer.spots) == Counter(spot.reason for spot in mirrored.spots)
    assert (answer.marked is None) == (b"\0" in base + ours + theirs or answer.spots[0].reason is Reason.TOO_LARGE)
    check_marks(answer, base, ours, theirs)


def check_marks(answer: Unproven, base: bytes, ours: bytes, theirs: bytes) -> None:
    """Every word and mark that a side wrote stands in the marked text, as often as in either."""
    if answer.marked is None or b"<<<<<<<" in base + ours + theirs:
        return
    shown = Counter(_TOKEN.findall(_MARK.sub(b"", answer.marked)))
    for side in (ours, theirs):
        written = Counter(_TOKEN.findall(side)) - Counter(_TOKEN.findall(base))
        assert not written - shown


def check_candidates(answer: Unproven, base: bytes, ours: bytes, theirs: bytes, path: str) -> None:
    """Few, none twice, each past the gate."""
    found = list(answer.candidates())
    assert len(found) <= MAX_CANDIDATES
    assert len({each.source for each in found}) == len(found)
    assert all(fault_in(each.source, (base, ours, theirs), path) is None for each in found)
    assert list(answer.candidates()) == found


def _lines(text: bytes) -> list[bytes]:
    """The lines, without what ends them: the last may have gained an end."""
    return [line.removesuffix(b"\r") for line in text.split(b"\n") if line.strip()]


def check_nothing_lost(merged: bytes, base: bytes, ours: bytes, theirs: bytes, names: Iterable[bytes]) -> None:
    """What a side put in is there as often as both have it; a line that stood once and that a side took out is gone."""
    for name in names:
        assert merged.count(name) == ours.count(name) + theirs.count(name), name
    counts, mine, others, now = (Counter(_lines(text)) for text in (base, ours, theirs, merged))
    for line, count in counts.items():
        if count == 1 and re.search(rb"\w", line):
            assert now[line] == min(mine[line], others[line], 1), line
