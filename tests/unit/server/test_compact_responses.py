"""What is left out of an answer to an agent: what it has already, or gets in another form."""

from typing import Any

import pytest

from commonhold.api.wire import shapes
from commonhold.kernel.answers import (
    CommitAnswer,
    MergedRegion,
    Obstacle,
    RegionHash,
    Repair,
    RepairRegion,
    Unmerged,
)
from commonhold.kernel.refusals import Refusal
from commonhold.server.compact_responses import thrifty

HASH = "0123456789abcdef" * 4
LONG = "".join(f"line {number}\n" for number in range(40))


def merged(text: str, diff: str | None) -> Any:
    region = MergedRegion("k", HASH, text, "two", "intent", ("joined",), diff)
    return thrifty(shapes.commit(CommitAnswer("merged", regions=(RegionHash("k", HASH),), merged=(region,))))


@pytest.mark.parametrize(
    ("text", "diff", "told"),
    [
        ("short\n", "--- yours\n+++ merged\n", {"text": "short\n"}),
        (LONG, "--- yours\n+++ merged\n", {"diff": "--- yours\n+++ merged\n"}),
        (LONG, None, {}),
        ("", "--- yours\n+++ merged\n", {"text": ""}),
    ],
)
def test_what_is_there_now_is_told_in_the_shorter_way(text: str, diff: str | None, told: dict[str, str]) -> None:
    answer = merged(text, diff)
    assert answer["merged"] == [{"key": "k", **told}]
    assert answer["regions"] == [{"key": "k", "hash": HASH[:16]}]


def refused(marked: str | None) -> Any:
    repair = Repair(
        (RepairRegion("k", HASH, "now\n", "two", "intent", "diff"), RepairRegion("l", HASH, "now\n", diff="diff")),
        (Unmerged("k", (Obstacle("BOTH_CHANGED", "why"),), marked),),
    )
    return thrifty(shapes.commit(CommitAnswer("refused", Refusal.REGION_CHANGED, repair=repair)))["repair"]


def test_what_is_marked_needs_no_diff() -> None:
    lines = [f"line {number}" for number in range(20)]
    lines[5:6] = ["<<<<<<< yours", "a", "=======", "b", ">>>>>>> two"]
    lines[15:16] = ["<<<<<<< yours", "c", "=======", "d", ">>>>>>> two"]
    repair = refused("\n".join(lines))
    assert ["diff" in region for region in repair["regions"]] == [False, True]
    assert repair["regions"][0]["text"] == "now\n"
    (unmerged,) = repair["unmerged"]
    assert unmerged["obstacles"] == [{"reason": "BOTH_CHANGED", "why": "why"}]
    assert unmerged["marked"].splitlines() == ["…", *lines[3:12], "…", *lines[13:22], "…"]


@pytest.mark.parametrize("marked", ["no\nmarker", "<<<<<<< one\nnever ends", ""])
def test_what_has_no_marked_spot_is_told_whole(marked: str) -> None:
    assert refused(marked)["unmerged"][0].get("marked", "") == marked


def test_what_can_hold_no_markers_keeps_its_diff() -> None:
    repair = refused(None)
    assert [region["diff"] for region in repair["regions"]] == ["diff", "diff"]
    assert "marked" not in repair["unmerged"][0]
