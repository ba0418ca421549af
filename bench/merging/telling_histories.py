"""What became of the files in the histories, in tables."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.merging.histories import Seen
from bench.merging.reasons import MANY, tell_reasons
from commonhold.merging.verdict import Verdict

COLUMNS = (("git same", 10), ("PROVEN", 8), ("same", 6), ("reordered", 11), ("other", 7), ("unparseable", 13))
HEAD = f"{'':<44}{'files':>6}{''.join(f'{name:>{width}}' for name, width in COLUMNS)}{'refused':>9}"


def write(path: Path, seen: Iterable[Seen]) -> None:
    """Keep what was seen, a file a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(each), sort_keys=True) + "\n" for each in seen))


def tell(seen: Sequence[Seen]) -> None:
    """Print how many are proven, and whether they say the same as the human's, and why the others are refused."""
    print(f"\n{HEAD}")
    for name, group in _groups(seen):
        _row(name, group)
    for words, is_conflicted in (("conflicts", True), ("merges", False)):
        group = [each for each in seen if bool(each.conflicts) == is_conflicted]
        print(f"\nwhere git {words}, ", end="")
        tell_reasons(each.spots for each in group if each.verdict == Verdict.REFUSED)
        others = [each.name for each in group if each.same is False and (each.is_joined or not is_conflicted)]
        print(f"joined by the human too, in another way: {len(others)} {' '.join(others[:MANY])}")
    for each in seen:
        if each.crash or each.parses is False:
            print(f"\n{each.name}: {each.crash or 'cannot be parsed'}")


def _groups(seen: Sequence[Seen]) -> Iterator[tuple[str, Sequence[Seen]]]:
    for words, is_conflicted in (("git conflicts", True), ("git merges", False)):
        group = [each for each in seen if bool(each.conflicts) == is_conflicted]
        yield words, group
        python = [each for each in group if each.name.endswith(".py")]
        yield f"  {words}, Python", python
        yield f"  {words}, Python, human joined both", [each for each in python if each.is_joined]
        yield f"  {words}, other languages", [each for each in group if not each.name.endswith(".py")]
        for project in dict.fromkeys(each.name.partition(":")[0] for each in seen):
            yield f"  {words}, {project}", [each for each in group if each.name.startswith(f"{project}:")]


def _row(name: str, group: Sequence[Seen]) -> None:
    git_same = sum(each.git_same for each in group)
    proven = [each for each in group if each.verdict == Verdict.PROVEN]
    same = sum(each.same is True for each in proven)
    reordered = sum(each.is_reordered is True for each in proven)
    other, broken = len(proven) - same - reordered, sum(each.parses is False for each in proven)
    ours = f"{len(proven):>8}{same:>6}{reordered:>11}{other:>7}{broken:>13}{len(group) - len(proven):>9}"
    print(f"{name:<44}{len(group):>6}{git_same:>10}{ours}")
