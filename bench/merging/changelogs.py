"""Change logs to which both sides of a merge added, replayed from the histories of projects.

Two commits that follow each other are replayed as if both had begun with the text before the first: the second side is
the text after both, without the first commit's lines. Two commits that did begin with one text are
replayed as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from bench.merging.repository import ABSENT, Repository
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

CHUNK: Final = 16
MOST: Final = 250
NAME: Final = re.compile(r"(?:.*/)?(?:changes|changelog|history|news|releases?)(?:\.(?:md|rst|txt))?", re.IGNORECASE)
ATX: Final = re.compile(r"(#{1,6})[ \t]+(.*\S)")
UNDERLINE: Final = re.compile(r"([=\-~^])\1{2,}[ \t]*\Z")
UNSEEN: Final = re.compile(r"<!--.*?-->|\(https?://[^)\s]*\)", re.DOTALL)
"""What a reader does not see: comments, and where links lead."""
LABEL: Final = re.compile(r"(?:\*\*)?[A-Z][A-Za-z ]{2,40}(?::|:?\*\*:?)[ \t]*")
ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")

Section = tuple[str, ...]
Entry = tuple[Section, str]


@dataclass(frozen=True)
class Replay:
    """Two changes of one change log: the names of its versions."""

    repository: str
    path: str
    base: str
    ours: str
    theirs: str
    is_sequence: bool
    """Whether `theirs` is the text after both commits, which still holds the first one's change."""

    def __str__(self) -> str:
        """Its name, as `flask:CHANGES.rst:BASE-OURS-THEIRS`."""
        return f"{self.repository}:{self.path}:{self.base[:10]}-{self.ours[:10]}-{self.theirs[:10]}"


@dataclass(frozen=True)
class Log:
    """A change log as a reader sees it: entries under headings, and the words between a heading and its first entry."""

    entries: Counter[Entry]
    sections: Counter[Section]
    heads: dict[Section, str]

    @classmethod
    def of(cls, text: str) -> "Log":
        """Read Markdown or reStructuredText."""
        entries, sections, heads = Counter[Entry](), Counter[Section](), dict[Section, str]()
        around: list[tuple[int, str]] = []
        begun: set[Section] = set()
        section: Section = ()
        entry = ""
        is_blank = False
        for rank, line in _ranked(UNSEEN.sub("", text).splitlines()):
            is_item = not rank and ITEM.match(line) is not None
            is_apart = is_blank and line[:1].strip() != ""
            is_blank = not line.strip()
            if entry and (rank or is_item or is_apart):
                entries[section, entry] += 1
                entry = ""
            if rank:
                around = [*(each for each in around if each[0] < rank), (rank, " ".join(line.split()))]
                section = tuple(name for _, name in around)
                sections[section] += 1
            elif is_item or entry:
                entry = f"{entry} {line.strip()}".strip()
                begun.add(section)
            elif section not in begun:
                heads[section] = f"{heads.get(section, '')} {line.strip()}".strip()
        if entry:
            entries[section, entry] += 1
        return cls(entries, sections, heads)


def _ranked(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines, each heading with its rank, any other line with 0."""
    ranks: dict[str, int] = {}
    skipped = False
    for line, below in zip(lines, (*lines[1:], ""), strict=True):
        if skipped:
            skipped = False
        elif atx := ATX.match(line):
            yield len(atx[1]), atx[2]
        elif line[:1].strip() and not ITEM.match(line) and (mark := UNDERLINE.match(below)) and re.search(r"\w", line):
            yield ranks.setdefault(mark[1], len(ranks) + 1), line
            skipped = True
        elif LABEL.fullmatch(line):
            yield 100, line
        else:
            yield 0, line


@dataclass(frozen=True)
class Replayed:
    """What became of one replay; `faults` are those of what is PROVEN."""

    name: str
    both_added: bool
    verdict: str
    faults: tuple[str, ...] = ()


def replays(repository: Repository) -> list[Replay]:
    """The newest pairs of changes of a change log of which one follows the other, or that began with one text."""
    return [each for path in _paths(repository) for each in _of_path(repository, path)]


def _of_path(repository: Repository, path: str) -> list[Replay]:
    found: list[Replay] = []
    changes = list(dict.fromkeys(_changes(repository, path)))
    after: dict[str, list[str]] = {}
    for before, now in changes:
        after.setdefault(before, []).append(now)
    for before, now in changes:
        found += (Replay(str(repository), path, before, now, then, is_sequence=True) for then in after.get(now, ()))
        others = after[before][after[before].index(now) + 1 :]
        found += (Replay(str(repository), path, before, now, other, is_sequence=False) for other in others)
    return [each for each in found if each.base not in (each.ours, each.theirs)][:MOST]


def _paths(repository: Repository) -> list[str]:
    said = repository.run("log", "--format=", "--name-only", "--no-merges", "HEAD").decode(errors="replace")
    return sorted({line for line in said.splitlines() if NAME.fullmatch(line)})


def _changes(repository: Repository, path: str) -> Iterator[tuple[str, str]]:
    said = repository.run("log", "--format=", "--raw", "--no-abbrev", "--no-merges", "--no-renames", "HEAD", "--", path)
    for line in said.decode(errors="replace").splitlines():
        _, _, before, now, _ = line.split(maxsplit=4)
        if ABSENT not in (before, now):
            yield before, now


def look(repository: Repository, each: Replay) -> Replayed | None:
    """Merge the two changes and judge the answer; None where the second commit rewrote what the first had written."""
    blobs = repository.blobs([each.base, each.ours, each.theirs])
    try:
        base, ours, theirs = ((blob or b"").decode() for blob in blobs)
    except UnicodeDecodeError:
        return None
    other = _without(base, ours, theirs) if each.is_sequence else theirs
    if other is None or len({base, ours, other}) < len(blobs):
        return None
    logs = [Log.of(text) for text in (base, ours, other)]
    both_added = all(side.entries - logs[0].entries for side in logs[1:])
    answer = merge(base.encode(), ours.encode(), other.encode(), each.path)
    if not isinstance(answer, Proven):
        return Replayed(str(each), both_added, "REFUSED")
    return Replayed(str(each), both_added, "PROVEN", tuple(_faults(Log.of(answer.source.decode()), logs)))


def _without(base: str, first: str, both: str) -> str | None:
    """The second change alone: `base` with what led from `first` to `both`."""
    before, one, two = (text.splitlines(keepends=True) for text in (base, first, both))
    places = _places(before, one)
    made: list[str] = []
    at = 0
    for low, high, start, stop in _differences(one, two):
        begin, end = places.get(low), places.get(high)
        if begin is None or end is None or "".join(before[begin:end]) != "".join(one[low:high]):
            return None
        made += (*before[at:begin], *two[start:stop])
        at = end
    return "".join((*made, *before[at:]))


def _places(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Where each gap between the lines after a change lay before it; none inside what the change wrote."""
    found: dict[int, int] = {}
    at = place = 0
    for low, high, start, stop in (*_differences(before, after), (len(before), len(before), len(after), len(after))):
        found |= zip(range(place, start + 1), range(at, low + 1), strict=True)
        at, place = high, stop
    found[len(after)] = len(before)
    return found


def _differences(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """The stretches of lines that differ."""
    shortest = min(len(before), len(after))
    head = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    tail = next((at for at in range(shortest - head) if before[-1 - at] != after[-1 - at]), shortest - head)
    inner = before[head : len(before) - tail], after[head : len(after) - tail]
    codes = SequenceMatcher(None, *inner, autojunk=False).get_opcodes()
    return [
        (low + head, high + head, start + head, stop + head) for tag, low, high, start, stop in codes if tag != "equal"
    ]


def _faults(merged: Log, versions: Sequence[Log]) -> Iterator[str]:
    """What is doubled, lost, or under a heading that its writer did not put it under."""
    for section, count in merged.sections.items():
        if count > max(1, *(each.sections[section] for each in versions)):
            yield f"section twice: {' > '.join(section)}"
    base, *sides = versions
    for side, other in zip(sides, reversed(sides), strict=True):
        for section, entry in _new(base, side):
            if not merged.entries[section, entry]:
                yield f"not under {' > '.join(section)}: {entry}"
            elif merged.entries[section, entry] > max(side.entries[section, entry], other.entries[section, entry]):
                yield f"entry twice: {entry}"
            elif merged.sections[section] == base.sections[section] == 1 and merged.heads.get(
                section
            ) != side.heads.get(section):
                yield f"the other side changed the words above ({merged.heads.get(section)}): {entry}"


def _new(base: Log, side: Log) -> Iterator[Entry]:
    """The entries of a side that the base does not have anywhere, and that are not one of its entries rewritten."""
    known = {entry for _, entry in base.entries}
    gone = known - {entry for _, entry in side.entries}
    for section, entry in side.entries - base.entries:
        if entry not in known and not get_close_matches(entry, gone, n=1):
            yield section, entry


def measure(repositories: Sequence[Repository], processes: int) -> list[Replayed]:
    """What became of every replay in all histories."""
    with ProcessPoolExecutor(processes) as pool:
        seen: list[Replayed] = []
        for repository in repositories:
            found = replays(repository)
            looked = pool.map(look, [repository] * len(found), found, chunksize=CHUNK)
            seen += (each for each in looked if each is not None)
        return seen


def tell(seen: Sequence[Replayed]) -> None:
    """Print a row a project, and each fault."""
    print(f"\n{'change logs':<24}{'replays':>9}{'both added':>12}{'PROVEN':>9}{'wrong':>7}")
    for project in (*dict.fromkeys(each.name.partition(":")[0] for each in seen), ""):
        group = [each for each in seen if each.name.startswith(project)]
        both = [each for each in group if each.both_added]
        proven, wrong = sum(each.verdict == "PROVEN" for each in both), sum(bool(each.faults) for each in group)
        print(f"{project or 'all':<24}{len(group):>9}{len(both):>12}{proven:>9}{wrong:>7}")
    for each in seen:
        for fault in each.faults:
            print(f"{each.name}: {fault[:160]}")
