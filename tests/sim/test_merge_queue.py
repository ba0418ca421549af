"""The merge queue under arrivals, culprits and newer pushes, and runners killed or frozen between any two steps."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
from tests.sim.merge_queue import MAIN, TTL, KilledError, Process, Story, check

from commonhold.coordinator.merge_queue import QueueRunner, Turn
from commonhold.coordinator.queue_ports import Build, CheckReport, QueueLostError
from commonhold.coordinator.roles import Stop
from commonhold.kernel.entry import EntryMoved, EntryRecord, EntryState, Fault, RepairPacket
from commonhold.kernel.errors import StoreError
from commonhold.kernel.refusals import Refusal
from commonhold.landing.commands import AddEntry, EntriesChanged, EntryRefused, RemoveEntry


def entry_of(outcome: object) -> EntryRecord:
    assert isinstance(outcome, EntriesChanged), outcome
    return outcome.records[0]


def mixed(runner_class: type[QueueRunner] = QueueRunner, *, swaps: bool = True) -> Story:
    """Six entries: two good ones, one that fails alone, two that fail only together, and one that conflicts."""
    story = Story(runner_class=runner_class, swaps=swaps)
    for name in ("one", "bad", "left", "right", "clash", "two"):
        story.add(name)
    story.repository.failing = {frozenset({"bad.1"}), frozenset({"left.1", "right.1"})}
    story.repository.conflicts = {frozenset({"one.1", "clash.1"})}
    return story


EXPECTED = {
    "one": "landed",
    "two": "landed",
    "left": "landed",
    "right": "returned",
    "bad": "returned",
    "clash": "returned",
}


def disturbed(story: Story, number: int, disturb: Callable[[], None]) -> Story:
    """Disturb the runner once, just before its call of this number takes effect, and after the one before it has."""

    def on_call(call: int) -> None:
        if call == number:
            disturb()

    story.on_call = on_call
    story.run()
    return story


def kill() -> None:
    raise KilledError


def freeze(story: Story) -> Callable[[], None]:
    """Stop the runner for longer than its lease lives; meanwhile another works until nothing is left to do."""

    def disturb() -> None:
        story.on_call = lambda _: None
        story.pass_time(2 * TTL)
        other = story.process()
        assert other is not None
        while other.runner.turn(Process.NEVER) is not Turn.IDLE:
            pass

    return disturb


def calls_of(story: Story) -> int:
    story.run()
    return story.calls


def test_good_changes_land_and_each_culprit_is_named() -> None:
    story = mixed()
    story.run()
    check(story)
    assert story.states() == EXPECTED
    packets = {branch: each.packet for branch, each in story.entries().items() if each.packet}
    assert {branch: packet.fault.value for branch, packet in packets.items()} == {
        "bad": "CHECK_FAILED",
        "right": "CHECK_FAILED",
        "clash": "MERGE_CONFLICT",
    }
    assert "make test" in packets["bad"].why
    assert packets["bad"].output == "1 failed"


def test_a_runner_killed_between_any_two_steps_loses_nothing() -> None:
    for number in range(1, calls_of(mixed()) + 1):
        story = disturbed(mixed(), number, kill)
        check(story)
        assert story.states() == EXPECTED, number


def test_a_frozen_runner_does_no_harm_to_its_successor() -> None:
    for number in range(1, calls_of(mixed()) + 1):
        story = mixed()
        disturbed(story, number, freeze(story))
        check(story)
        assert story.states() == EXPECTED, number


class LandsWithoutApproval(QueueRunner):
    """A planted mutant: it finishes the batch of its predecessor whether or not its checks have passed."""

    def _finished(self, testing: Sequence[EntryRecord], head: str) -> Turn:  # noqa: ARG002 - as its base has it
        return self._landed(testing)


class BelievesAnyReport(QueueRunner):
    """A planted mutant: it lands what fails."""

    def _judged(
        self, records: Sequence[EntryRecord], whole: CheckReport, alone: Sequence[CheckReport], stop: Stop
    ) -> Turn | None:
        return super()._judged(records, replace(whole, passed=True), alone, stop)


MUTANTS: dict[str, Callable[[], Story]] = {
    "lands without approval": lambda: mixed(LandsWithoutApproval),
    "lands what fails": lambda: mixed(BelievesAnyReport),
    "moves the ref without comparing": lambda: mixed(swaps=False),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_mutant_is_found(mutant: str) -> None:
    def survives(number: int) -> bool:
        story = MUTANTS[mutant]()
        try:
            check(disturbed(story, number, kill if story.swaps else freeze(story)))
        except AssertionError:
            return False
        return True

    assert not all(survives(number) for number in range(1, calls_of(mixed()) + 1))


def test_an_entry_that_leaves_rebuilds_only_what_stands_behind_it() -> None:
    story = Story()
    for name in ("a", "b", "c", "d"):
        story.add(name)
    wanted = story.entries()["c"].id
    story.at = [(2.0, lambda: story.queue.execute(RemoveEntry("person", wanted)))]
    story.run()
    check(story)
    assert story.states() == {"a": "landed", "b": "landed", "c": "returned", "d": "landed"}
    assert story.merges == 4 + 1  # only d is merged again
    assert story.seconds <= 2 + 1 + 5


def test_what_enters_while_a_batch_is_tested_disturbs_nothing() -> None:
    story = Story()
    story.add("first")
    story.at = [(float(second), partial(story.add, f"n{second}")) for second in range(1, 5)]
    story.run()
    check(story)
    assert story.landings[0] == 5.0
    assert story.builds == 2


def test_a_newer_push_while_tested_is_tested_itself_and_others_go_on() -> None:
    story = Story()
    story.add("a")
    story.add("b")
    story.at = [(2.0, lambda: story.add("a", "a.2"))]
    story.run()
    check(story)
    final = story.repository.commits[story.repository.ref]
    assert final == {"b.1", "a.2"}


def test_a_push_while_the_batch_lands_is_refused_and_a_removal_too() -> None:
    story = Story()
    story.add("a")
    answers: list[object] = []

    def on_call(_: int) -> None:
        record = story.entries()["a"]
        if record.is_approved and not answers:
            answers.append(story.queue.execute(RemoveEntry("person", record.id)))
            answers.append(story.add("a", "a.2"))

    story.on_call = on_call
    story.run()
    check(story)
    assert [each.code for each in answers if isinstance(each, EntryRefused)] == [Refusal.ENTRY_CHANGED] * 2
    assert story.repository.commits[story.repository.ref] == {"a.1"}


def test_a_branch_that_fails_by_itself_returns_no_entry_and_its_repair_lands() -> None:
    story = Story()
    story.repository.commits["c0"] = frozenset({"broken"})
    story.repository.failing = {frozenset({"broken"})}
    story.add("a")
    process = story.process()
    assert process is not None
    assert [process.runner.turn(Process.NEVER) for _ in range(2)] == [Turn.WORKED, Turn.HELD]
    assert story.states() == {"a": "queued"}
    assert "main itself fails the check" in process.runner.held
    story.repository.failing = set()  # a person repairs the branch by hand
    story.repository.commits["c1"] = frozenset({"broken", "repair"})
    story.repository.ref = "c1"
    assert process.runner.turn(Process.NEVER) is Turn.WORKED
    assert story.states() == {"a": "landed"}


def test_a_branch_moved_by_others_while_a_batch_is_tested_is_built_on_again() -> None:
    story = Story()
    story.add("a")

    def push() -> None:
        story.repository.commits["p"] = frozenset({"by hand"})
        story.repository.passed.add("p")
        story.repository.ref = "p"
        story.repository.stood.append("p")

    story.at = [(2.0, push)]
    story.run()
    check(story)
    assert story.repository.commits[story.repository.ref] == {"by hand", "a.1"}
    assert story.builds == 2


def test_a_change_that_meets_several_others_is_merged_last() -> None:
    story = Story()
    for name in ("wide", "a", "b", "c"):
        story.add(name)
        story.repository.touches[f"{name}.1"] = frozenset({f"file:{name}.py#f"})
    story.repository.touches["wide.1"] = frozenset({f"file:{name}.py" for name in ("a", "b", "c")})
    story.repository.conflicts = {frozenset({"wide.1", f"{name}.1"}) for name in ("a", "b", "c")}
    story.run()
    check(story)
    assert story.states() == {"wide": "returned", "a": "landed", "b": "landed", "c": "landed"}


def wave(story: Story, start: float, number: int) -> None:
    """Eight branches in eight seconds: one fails alone, two together, one conflicts and is added again and again."""
    names = [f"w{number}b{index}" for index in range(1, 9)]
    for index, name in enumerate(names):
        story.at.append((start + index, partial(story.add, name)))
    one, _, _, four, five, six, seven, _ = (f"{name}.1" for name in names)
    story.repository.failing |= {frozenset({four}), frozenset({five, six})}
    story.repository.conflicts |= {frozenset({one, seven})}
    story.at.append((start + 9, lambda: story.add(names[7], f"{names[7]}.2")))
    story.at += [(start + second, lambda: story.add(names[6])) for second in range(9, 60, 3)]


def test_the_queue_makes_progress_under_arrivals_faster_than_a_build() -> None:
    story = Story()
    for number, start in enumerate((0.0, 15.0, 30.0), 1):
        wave(story, start, number)
    story.pass_time(0.0)
    story.run()
    check(story)
    landed = [each for each in story.entries().values() if each.state is EntryState.LANDED]
    gaps = [after - before for before, after in zip([0.0, *story.landings], story.landings, strict=False)]
    assert story.landings[0] < 12
    assert len(landed) == 3 * 5  # all that can: of each wave one fails, one conflicts, and one of a pair is left out
    assert max(gaps) <= 20
    assert story.builds <= 60
    returned = {branch[-1] for branch, each in story.entries().items() if each.state is EntryState.RETURNED}
    assert returned == {"4", "6", "7"}


def test_a_commit_that_was_returned_is_refused_at_once_with_the_same_packet() -> None:
    story = mixed()
    story.run()
    clash, builds = story.entries()["clash"], story.builds
    again = story.add("clash")
    assert isinstance(again, EntryRefused)
    assert (again.code, again.record) == (Refusal.ENTRY_RETURNED, clash)
    story.run()
    assert story.builds == builds
    tried = story.queue.execute(AddEntry("person", clash.entry, again=True))
    assert entry_of(tried).state is EntryState.QUEUED


@pytest.mark.parametrize("seed", range(25))
def test_random_arrivals_culprits_and_deaths(seed: int) -> None:
    random, story = Random(seed), Story()
    names = [f"b{number}" for number in range(12)]
    for name in names:
        story.at.append((random.uniform(0, 40), partial(story.add, name, priority=random.randrange(2))))
    commits = [f"{name}.1" for name in names]
    bad = set(random.sample(commits, 2))
    story.repository.failing = {frozenset({each}) for each in bad} | {frozenset(random.sample(commits, 2))}
    story.repository.conflicts = {frozenset(random.sample(commits, 2))}

    def leave() -> None:
        waiting = [each for each in story.entries().values() if not each.is_final]
        if waiting:
            story.queue.execute(RemoveEntry("person", random.choice(waiting).id))

    story.at += [(random.uniform(5, 50), leave) for _ in range(2)]

    def on_call(_: int) -> None:
        if random.random() < 0.04:
            raise KilledError

    story.on_call = on_call
    story.run()
    check(story)
    assert all(story.entries()[each.partition(".")[0]].state is EntryState.RETURNED for each in bad)
    assert story.entries()[names[0]].entry.onto == MAIN


def test_one_history_has_one_result() -> None:
    first, second = mixed(), mixed()
    first.run()
    second.run()
    assert first.repository.ref == second.repository.ref
    assert [each.event for each in first.log()] == [each.event for each in second.log()]


def test_a_runner_that_was_replaced_is_stopped_at_its_next_post() -> None:
    story = Story()
    story.add("a")
    process = story.process()
    assert process is not None
    story.pass_time(2 * TTL)
    assert story.process() is not None
    with pytest.raises(QueueLostError, match="runner-2 runs it now"):
        process.runner.turn(Process.NEVER)


def four(**rest: Any) -> Story:
    story = Story(**rest)
    for name in ("one", "odd", "two", "three"):
        story.add(name)
    return story


@pytest.mark.parametrize(
    ("step", "fault"),
    [("merged", "MERGE_FAILED"), ("copy", "MERGE_FAILED"), ("touched", ""), ("attribute", ""), ("beside", "")],
)
def test_an_error_that_lasts_at_any_step_of_one_entry_stops_no_other(step: str, fault: str) -> None:
    story = four()
    story.repository.faulty = {step: {"odd.1"}}
    if step == "beside":
        story.repository.failing, fault = {frozenset({"odd.1"})}, "CHECK_FAILED"
    story.run()
    check(story)
    odd = story.entries()["odd"]
    assert {branch for branch, state in story.states().items() if state == "landed"} >= {"one", "two", "three"}
    assert odd.state is (EntryState.RETURNED if fault else EntryState.LANDED)
    assert (odd.packet.fault.value if odd.packet else "") == fault
    assert story.log()[-1].sequence < 60, "the runner tried again and again"
    if step == "attribute":
        assert odd.note == "its commits have no notes"


class BlamesTheEntry(QueueRunner):
    """A planted mutant: it takes each error for one of the entry."""

    def _tried(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        try:
            return super()._tried(record, head, has_checks=has_checks)
        except StoreError as fault:
            return RepairPacket(Fault.MERGE_FAILED, str(fault), head)

    def _require_machine(self, head: str, check: str, stop: Stop) -> CheckReport:  # noqa: ARG002 - as its base has it
        return CheckReport(passed=True)


def machine_trouble(runner_class: type[QueueRunner] = QueueRunner) -> Story:
    """A machine whose disk is full for a while, and which later lacks the command of the check for a while."""
    story = four(runner_class=runner_class)
    story.repository.failing = {frozenset({"odd.1"})}
    story.is_broken = True
    story.at = [
        (7.0, lambda: setattr(story, "is_broken", False)),
        (8.0, lambda: setattr(story, "has_command", False)),
        (50.0, lambda: setattr(story, "has_command", True)),
    ]
    story.run()
    return story


def test_trouble_of_the_machine_returns_no_entry() -> None:
    story = machine_trouble()
    check(story)
    assert story.states() == {"one": "landed", "odd": "returned", "two": "landed", "three": "landed"}
    assert machine_trouble(BlamesTheEntry).states() != story.states(), "the planted mutant is not found"


def test_a_new_runner_tries_entries_that_wait_for_the_branch() -> None:
    story = Story()
    story.repository.failing = {frozenset()}  # every tree fails, until somebody mends the machine
    story.add("a")
    first = story.process()
    assert first is not None
    assert [first.runner.turn(Process.NEVER) for _ in range(2)] == [Turn.WORKED, Turn.HELD]
    story.repository.failing = set()
    assert first.runner.turn(Process.NEVER) is Turn.HELD
    story.pass_time(2 * TTL)
    second = story.process()
    assert second is not None
    assert second.runner.turn(Process.NEVER) is Turn.WORKED
    assert story.states() == {"a": "landed"}


def crowd(seed: int, *, is_parallel: bool, runner_class: type[QueueRunner] = QueueRunner) -> list[float]:
    """Return the pauses between the ends of entries: forty branches in forty seconds, of which every fourth fails."""
    random = Random(seed)
    story = Story(is_parallel=is_parallel, runner_class=runner_class)
    for number in range(40):
        story.at.append((float(number), partial(story.add, f"b{number}")))
        if random.random() < 1 / 4:
            story.repository.failing.add(frozenset({f"b{number}.1"}))
    story.pass_time(0.0)
    story.run()
    check(story)
    return [after - before for before, after in zip([0.0, *story.ends], story.ends, strict=False)]


class WholeBatchesOnly(QueueRunner):
    """A planted mutant: it tests no entry beside its batch."""

    def _trees(self, records: Sequence[EntryRecord]) -> list[Build]:
        return super()._trees(records)[:1]


@pytest.mark.parametrize("seed", range(3))
def test_among_many_culprits_each_build_after_a_failure_ends_an_entry(seed: int) -> None:
    build = Story().build_seconds
    # The first failure of a streak ends none, nor does the first build of the branch alone.
    assert max(crowd(seed, is_parallel=True)) <= 2 * build
    mutant = crowd(seed, is_parallel=True, runner_class=WholeBatchesOnly)
    assert max(mutant) > 2 * build, "the planted mutant is not found"
    assert mutant == crowd(seed, is_parallel=False)
    assert max(mutant) <= 4 * build


@pytest.mark.parametrize("number", range(0, 60, 4))
def test_a_parallel_runner_killed_or_frozen_loses_nothing(number: int) -> None:
    for disturb in (lambda _: kill, freeze):
        story = mixed()
        story.is_parallel = True
        story.add("late")
        check(disturbed(story, number, disturb(story)))
        assert story.states() == {**EXPECTED, "late": "landed"}


def test_the_log_says_once_what_keeps_a_tested_batch_from_moving_the_branch() -> None:
    story = Story()
    story.add("a")
    story.add("b")
    story.blocked = "a.py would be overwritten"
    process = story.process()
    assert process is not None
    assert [process.runner.turn(Process.NEVER) for _ in range(4)] == [Turn.HELD] * 4
    assert [each.note for each in story.entries().values()] == [story.blocked, ""]
    said = [each for each in story.log() if isinstance(each.event, EntryMoved) and each.event.note == story.blocked]
    assert len(said) == 1
    story.blocked = ""
    story.pass_time(2 * TTL)
    story.run()
    check(story)
    assert story.states() == {"a": "landed", "b": "landed"}


def test_an_entry_that_the_remote_does_not_take_is_held_and_the_rest_lands() -> None:
    story = four()
    story.repository.unwanted = {"odd.1"}
    process = story.process()
    assert process is not None
    turns = [process.runner.turn(Process.NEVER) for _ in range(12)]
    assert turns[-1] is Turn.HELD
    assert story.states() == {"one": "landed", "odd": "queued", "two": "landed", "three": "landed"}
    assert story.entries()["odd"].note == process.runner.held == "origin does not take it"
    story.queue.execute(RemoveEntry("person", story.entries()["odd"].id))
    assert process.runner.turn(Process.NEVER) is Turn.IDLE
    check(story)
