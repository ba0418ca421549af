"""The power fails at any moment of a story: what was answered is there, and the rest is whole or not there at all.

How a disk may then look is said in `disk.py`. A failure names its seed and its state; with both in the environment,
that state alone is looked at:

    COMMONHOLD_CRASH_SEED=1 COMMONHOLD_CRASH_STATE=2 pytest 'tests/crashes/test_power_loss.py::...'
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.crashes.chronicle import STATE, Answered, Chronicle, Settled
from tests.crashes.disk import FOLDER, Bind, Deed, Disk, Flush, FlushNames, Image, Luck, Mark, Write, number, read_tree
from tests.crashes.ledger import fingerprint
from tests.crashes.story import BEFORE, DAEMON, STEPS
from tests.crashes.survey import CrashState, Finding, crash_states, lay_out, survey
from tests.crashes.survivor import STAGED, Wound
from tests.effort import is_stress

from commonhold.stores.sqlite.last_event_mark import HEAD
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

PROJECT: Final = Path(__file__).parents[2]
STORIES: Final = range(4)
SETTINGS: Final = ("FULL", DAEMON)
# Of so many that are drawn, at least so many are distinct, in each story.
DRAWN, DISTINCT = (640, 375) if is_stress() else (240, 150)
DRAWN_AGAIN, DRAWN_WEAK, DRAWN_OFF = 150, 500, 2000
# Of the mark in the gate, what comes before the inodes: its head, the number and the time of the last event.
MARKED_BYTES: Final = len(HEAD) + 8 + 8


def tell(root: Path, seed: int, synchronous: str = "FULL", *, before: Image = BEFORE, steps: int = STEPS) -> Chronicle:
    """Have a story told in a process of its own."""
    lay_out(root, before)
    output = root.with_name("chronicle")
    command = (sys.executable, "-m", "tests.crashes.story", root, str(seed), synchronous, str(steps), output)
    subprocess.run(command, cwd=PROJECT, check=True)
    chronicle = pickle.loads(output.read_bytes())  # noqa: S301 - written by our own child
    assert isinstance(chronicle, Chronicle)
    return chronicle


told = cache(tell)


def paired(values: Iterable[object]) -> list[tuple[object, str]]:
    """Each value with each setting in `make stress`, and with one of them in turn in `make test`."""
    turns = enumerate(values)
    return [
        (value, setting)
        for turn, value in turns
        for number, setting in enumerate(SETTINGS)
        if is_stress() or turn % len(SETTINGS) == number
    ]


def chosen(count: int) -> Iterable[int]:
    """The numbers of the crash states to look at."""
    alone = os.environ.get("COMMONHOLD_CRASH_STATE")
    return range(count) if alone is None else [int(alone)]


def report(findings: Iterable[Finding], seed: int) -> str:
    """What is wrong, and how to see it again."""
    return "\n".join(
        f"COMMONHOLD_CRASH_SEED={seed} COMMONHOLD_CRASH_STATE={each.state.number}: at {each.state.point}: {each.wounds}"
        for each in findings
        if each.wounds
    )


@pytest.mark.parametrize(("number", "synchronous"), paired(STORIES))
def test_what_was_answered_survives_and_the_rest_is_whole(root: Path, seed: int, number: int, synchronous: str) -> None:
    chronicle = told(root, seed + number, synchronous)
    states = list(crash_states(chronicle, seed, chosen(DRAWN)))
    assert report(survey(root, chronicle, states), seed) == ""
    assert len(states) >= DISTINCT or len(states) == len(list(chosen(DRAWN)))


@pytest.mark.parametrize("number", STORIES if is_stress() else STORIES[::2])
def test_power_may_fail_again_while_a_commit_is_taken_back(root: Path, seed: int, number: int) -> None:
    chronicle = recovery(root, seed, number)
    findings = survey(root, chronicle, crash_states(chronicle, seed, chosen(DRAWN_AGAIN)))
    assert report(findings, seed) == ""


def test_what_a_commit_left_is_gone_for_good_before_it_is_struck_out(root: Path, seed: int) -> None:
    chronicle = recovery(root, seed, 0)
    disk = disk_at_first(Settled, chronicle)
    assert [folder for folder in disk.moves if not folder.startswith(STATE)] == []


def recovery(root: Path, seed: int, number: int) -> Chronicle:
    """The story of the session after a power failure in the middle of a commit."""
    first = told(root, seed + number)
    broken = next(state for state in crash_states(first, seed, range(DRAWN)) if is_amid_a_commit(state))
    again = tell(root, seed + len(STORIES), before=broken.image, steps=0)
    return replace(again, empty=state_in(root, broken.image), trees=first.trees)


def is_amid_a_commit(state: CrashState) -> bool:
    """Whether new files lie beside their places."""
    return any(STAGED in path for path in state.image)


def state_in(root: Path, image: Image) -> str:
    """The fingerprint of the state in a crash state."""
    lay_out(root, image)
    with SqliteStore(str(root / STATE)).read() as session:
        return fingerprint(session)


def test_the_state_folder_itself_is_durable_at_the_first_answer(root: Path, seed: int) -> None:
    before = {path: data for path, data in BEFORE.items() if path != STATE}
    disk = disk_at_first(Answered, tell(root, seed, before=before, steps=0))
    assert disk.names.get(STATE) == FOLDER


def disk_at_first(mark: type, chronicle: Chronicle) -> Disk:
    """The disk when something happened first."""
    disk = Disk.holding(chronicle.before)
    for deed in chronicle.deeds:
        if isinstance(deed, Mark) and isinstance(deed.what, mark):
            return disk
        disk.do(deed)
    raise AssertionError(mark)


def repeatable(chronicle: Chronicle) -> Chronicle:
    """The same without the inodes in the gate's mark, which the file system chooses."""
    deeds = tuple(
        replace(deed, data=deed.data[:MARKED_BYTES]) if isinstance(deed, Write) and deed.data.startswith(HEAD) else deed
        for deed in chronicle.deeds
    )
    return replace(chronicle, deeds=deeds)


def test_a_story_can_be_told_again(root: Path, seed: int) -> None:
    assert repeatable(tell(root, seed)) == repeatable(tell(root, seed))


def test_nothing_that_is_done_to_the_disk_goes_unrecorded(root: Path, seed: int) -> None:
    chronicle = tell(root, seed)
    disk = Disk.holding(chronicle.before)
    for deed in chronicle.deeds:
        disk.do(deed)
    assert disk.remains(Luck.best()) == read_tree(root)


@pytest.mark.parametrize(("synchronous", "found"), [("NORMAL", {Wound.LOST, Wound.FENCE}), ("OFF", {Wound.CORRUPT})])
def test_weaker_settings_are_found_out(root: Path, seed: int, synchronous: str, found: set[Wound]) -> None:
    """With NORMAL, answers are lost and fences come again, or the loss is told; the state is one that there was."""
    chronicle = told(root, seed, synchronous)
    drawn = range(DRAWN_OFF if synchronous == "OFF" else DRAWN_WEAK)
    wounds: set[Wound] = set()
    for finding in survey(root, chronicle, crash_states(chronicle, seed, drawn)):
        wounds |= finding.wounds.keys()
        if synchronous == "OFF" and found <= wounds:
            break
    assert found <= wounds
    assert synchronous == "OFF" or wounds <= {Wound.LOST, Wound.FENCE, Wound.FILES, Wound.LITTER, Wound.TOLD}


FORGOTTEN: Final[dict[str, tuple[type[Flush | FlushNames], Callable[[str], bool], set[Wound]]]] = {
    "log": (Flush, lambda name: name.endswith("-wal"), {Wound.LOST, Wound.FENCE}),
    "database": (Flush, lambda name: name.endswith(".db"), {Wound.CORRUPT, Wound.UNUSABLE, Wound.HALF}),
    "state folder": (FlushNames, lambda name: name == STATE, {Wound.LOST, Wound.FENCE}),
    "files": (Flush, lambda name: not name.startswith(STATE + "/"), {Wound.FILES}),
    "folders": (FlushNames, lambda name: name != STATE, {Wound.FILES}),
}
"""Flushes that a program may forget, and what is then found."""


@pytest.mark.parametrize(("flush", "synchronous"), paired(FORGOTTEN))
def test_a_forgotten_flush_is_found(root: Path, seed: int, flush: str, synchronous: str) -> None:
    kind, is_forgotten, found = FORGOTTEN[flush]
    chronicle = without(told(root, seed, synchronous), kind, is_forgotten)
    findings = survey(root, chronicle, crash_states(chronicle, seed, range(DRAWN)))
    assert any(finding.wounds.keys() & found for finding in findings)


def without(chronicle: Chronicle, kind: type[Flush | FlushNames], is_forgotten: Callable[[str], bool]) -> Chronicle:
    """The story as it would have been without some of its flushes."""
    names = {file: path for path, file in first_names(chronicle)}

    def is_kept(deed: Deed) -> bool:
        if not isinstance(deed, kind):
            return True
        return not is_forgotten(names[deed.file] if isinstance(deed, Flush) else deed.folder)

    return replace(chronicle, deeds=tuple(filter(is_kept, chronicle.deeds)))


def first_names(chronicle: Chronicle) -> Iterator[tuple[str, int]]:
    """Every file, by the names that it had, the first one last."""
    for deed in reversed(chronicle.deeds):
        if isinstance(deed, Bind):
            yield from ((path, file) for path, file in deed.moves if file)
    yield from number(chronicle.before).items()
