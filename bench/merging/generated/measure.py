"""Merge pairs of typed edits, and let the judge of the language say whether what is PROVEN is accepted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Final

import yaml

from bench.merging.generated.edits import Edit, edits
from bench.merging.generated.grammar import Grammar
from bench.merging.generated.judges import JSON, TOML, YAML, Complaints, Judge, is_accepted, lost
from bench.merging.generated.program import Program
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

_WHOLE: Final = 2_500
_AROUND: Final = 1_200
_CANDIDATES: Final = 4
_READERS: Final = {"json": JSON.read, "toml": TOML.read, "yaml": YAML.read}


@dataclass(frozen=True)
class Limits:
    """How much is made of each file: edits of each kind, how many of those accepted are paired, and what is sampled.

    Of `refused_share` of what is refused, the candidates are judged as well.
    """

    each_kind: int = 3
    most_edits: int = 18
    most_pairs: int = 150
    refused_share: float = 0.1


@dataclass(frozen=True)
class Merged:
    """What became of two edits: `broken` is what the judge says against a proven result.

    `accepted` is how many candidates of a refused merge the judge accepts; None where none was judged.
    """

    language: str
    file: str
    kinds: tuple[str, str]
    versions: tuple[bytes, bytes, bytes]
    result: bytes | None
    broken: Complaints
    accepted: int | None = None
    reasons: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        """Whether it was merged without doubt."""
        return self.result is not None

    def without_texts(self) -> "Merged":
        """The same without the texts, which are large."""
        return replace(self, versions=(b"", b"", b""), result=None if self.result is None else b"")


def of_file(grammar: Grammar, judge: Judge, place: Path, seed: int, limits: Limits) -> list[Merged]:
    """Merge pairs of edits of one file. Only edits that the judge accepts by themselves are paired."""
    source = place.read_bytes()
    told = f"{seed}:{grammar.name}:{place.name}"
    random = Random(told)  # noqa: S311 - repeatable on purpose
    program = Program(source, grammar, _around(source, random))
    if program.root.has_error:
        return []
    made = list(edits(program, told, limits.each_kind * grammar.tries))
    before, *after = judge.complaints(place, [source, *(each.source for each in made)])
    accepted = [each for each, said in zip(made, after, strict=True) if is_accepted(said, before)]
    chosen = _spread(accepted, limits.most_edits, random)
    pairs = list(combinations(chosen, 2))
    pairs = random.sample(pairs, min(len(pairs), limits.most_pairs))
    return _judged(
        grammar, judge, place, before, [_merged(grammar, place, source, *pair) for pair in pairs], random, limits
    )


def _spread(found: Sequence[Edit], most: int, random: Random) -> list[Edit]:
    """Some of the edits: of as many kinds as there are, first."""
    chosen: list[Edit] = []
    rest = random.sample(list(found), len(found))
    while rest and len(chosen) < most:
        counts = Counter(each.kind for each in chosen)
        rest.sort(key=lambda each: counts[each.kind])
        chosen.append(rest.pop(0))
    return chosen


def _around(source: bytes, random: Random) -> tuple[int, int]:
    """Where the edits are: all of a small file, some lines of a larger one, so that they meet."""
    if len(source) <= _WHOLE:
        return 0, len(source)
    start = random.randrange(len(source) - _AROUND)
    return start, start + _AROUND


def _merged(grammar: Grammar, place: Path, base: bytes, mine: Edit, other: Edit) -> tuple[Merged, Proven | Unproven]:
    answer = merge(base, mine.source, other.source, f"file{grammar.suffix}")
    result = answer.source if isinstance(answer, Proven) else None
    reasons = () if isinstance(answer, Proven) else tuple(str(each.reason) for each in answer.spots)
    first, second = sorted((mine.kind, other.kind))
    versions = (base, mine.source, other.source)
    return Merged(grammar.name, str(place), (first, second), versions, result, Complaints(), None, reasons), answer


def _judged(
    grammar: Grammar,
    judge: Judge,
    place: Path,
    before: Complaints,
    merges: Sequence[tuple[Merged, Proven | Unproven]],
    random: Random,
    limits: Limits,
) -> list[Merged]:
    asked = {each.result for each, _ in merges if each.result is not None}
    candidates = {
        index: [each.source for _, each in zip(range(_CANDIDATES), answer.candidates(), strict=False)]
        for index, (_, answer) in enumerate(merges)
        if isinstance(answer, Unproven) and random.random() < limits.refused_share
    }
    texts = sorted(asked | {text for some in candidates.values() for text in some})
    said = dict(zip(texts, judge.complaints(place, texts) if texts else [], strict=True))

    def judged(index: int, each: Merged) -> Merged:
        if each.result is not None:
            return replace(each, broken=said[each.result] - before + _lost(grammar, each))
        if index not in candidates:
            return each
        return replace(each, accepted=sum(is_accepted(said[text], before) for text in candidates[index]))

    return [judged(index, each) for index, (each, _) in enumerate(merges)]


def _lost(grammar: Grammar, each: Merged) -> Complaints:
    """What a merge of data lost, beside what a front end can say."""
    read = _READERS.get(grammar.name)
    if read is None or each.result is None:
        return Complaints()
    try:
        return lost(read, *each.versions, each.result)
    except (ValueError, SyntaxError, RecursionError, yaml.YAMLError):
        return Complaints()
