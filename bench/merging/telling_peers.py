"""What became of the examples of other merge tools, in tables."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.merging.peers import Outcome

CLEAN: Final = (
    "expected",
    "reordered",
    "otherwise",
    "candidate",
    "candidate reordered",
    "later candidate",
    "refused",
)
CONFLICTS: Final = ("PROVEN", "refused")


def write(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Keep the outcomes, an example a line: its name, whether its language has a structure, and the column."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (
        {
            "name": each.example.name,
            "is_structured": each.example.is_structured,
            "is_conflict": each.example.expected is None,
            "kind": each.kind,
        }
        for each in outcomes
    )
    path.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))


def tell(outcomes: Sequence[Outcome]) -> None:
    """Print both tables, and the names of the examples that are proven in a way their authors do not expect."""
    clean = [each for each in outcomes if each.example.expected is not None]
    conflicts = [each for each in outcomes if each.example.expected is None]
    print("\npeers' examples with a clean answer: expected, reordered and otherwise are PROVEN")
    _table(clean, CLEAN, has_share=True)
    print("\npeers' examples with an expected conflict")
    _table(conflicts, CONFLICTS, has_share=False)
    for words, group in (
        ("proven otherwise", [each for each in clean if each.kind == "otherwise"]),
        ("proven in another order", [each for each in clean if each.kind == "reordered"]),
        ("proven where a conflict is expected", [each for each in conflicts if each.kind == "PROVEN"]),
    ):
        print(f"\n{words}: {len(group)}")
        print("".join(f"  {each.example.name}\n" for each in group), end="")


def _table(outcomes: Sequence[Outcome], columns: Sequence[str], *, has_share: bool) -> None:
    widths = [max(len(each), 6) + 2 for each in columns]
    head = "".join(f"{name:>{width}}" for name, width in zip(columns, widths, strict=True))
    print(f"{'':<36}{'all':>5}{head}{'   right, PROVEN or first' if has_share else ''}")
    for name, group in _groups(outcomes):
        counts = Counter(each.kind for each in group)
        cells = "".join(f"{counts[column]:>{width}}" for column, width in zip(columns, widths, strict=True))
        right = sum(each.is_right for each in group)
        share = f"{right:>10} ({right / len(group):.0%})" if has_share else ""
        print(f"{name:<36}{len(group):>5}{cells}{share}")


def _groups(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, Sequence[Outcome]]]:
    for peer in dict.fromkeys(each.example.peer for each in outcomes):
        mine = [each for each in outcomes if each.example.peer == peer]
        yield from (
            (f"{peer}, {words}", group)
            for words, wanted in (("merged by structure", True), ("merged by lines", False))
            if (group := [each for each in mine if each.example.is_structured is wanted])
        )
    structured = [each for each in outcomes if each.example.is_structured]
    yield from (("all, by structure", structured),) if structured else ()
