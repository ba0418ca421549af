"""The contest with rivals, its processes and its arithmetic, without a network and without the rivals."""

import json
import math
import sys
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from bench.rivals import contest, environments
from bench.rivals.__main__ import OURS, RIVALS, compare
from bench.rivals.crew import Contestant, Course, run_trial
from bench.rivals.drivers import Facts
from bench.rivals.drivers.polling import poll
from bench.rivals.loads import Count, Load, Outcome, Tally, claim_apart, claim_together
from bench.rivals.trials import Series, Trial, best_rival, ours_at

DIRECT = {"COMMONHOLD_DAEMON": "off"}
OURS_DIRECTLY = Contestant("Commonhold", OURS, sys.executable, DIRECT, is_ours=True)
FLOCK = Contestant("flock", "tests.bench.flock_rival", sys.executable)


def trial(*grants: int, seconds: float = 2.0, durability: str = "FULL", handovers: int = 0) -> Trial:
    outcomes = tuple(Outcome(number, 0, number / 10) for number in grants)
    return Trial(Facts("1", "calls", "waits", durability, "3"), seconds, outcomes, Count(sum(grants), handovers))


def series(name: str, *trials: Trial, is_ours: bool = False) -> Series:
    return Series(name, is_ours, trials)


def goals(checks: object) -> dict[str, str]:
    assert isinstance(checks, list)
    return {figure.name: figure.goal for figure in checks}


@pytest.mark.slow
def test_a_contest_between_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    compare((OURS_DIRECTLY, FLOCK), Course(processes=2, seconds=0.2, disk=tmp_path / "disk"), rounds=1)
    printed = capsys.readouterr().out
    assert "flock 1: flock, as agent-0\n  synchronous=NORMAL, SQLite none; waits: flock waits by itself" in printed
    assert "synchronous=FULL" in printed
    figures = json.loads((tmp_path / "build/bench/rivals.json").read_text())["figures"]
    assert [each["name"] for each in figures if each["goal"]] == [
        "distinct keys, ours at FULL / flock at NORMAL",
        "one key, ours: processes that got none",
        "one key, ours / flock",
        "one key, to another process, ours / flock",
    ]
    overlapped = [each["value"] for each in figures if each["name"] == "  grants that overlapped"]
    assert overlapped == [0, 0]
    assert list((tmp_path / "disk").iterdir()) == []


@pytest.mark.slow
def test_a_worker_that_fails_ends_the_trial(tmp_path: Path) -> None:
    broken = Contestant("broken", "tests.bench.no_such_rival", sys.executable)
    with pytest.raises(ChildProcessError, match=r"(?s)broken: a worker failed.*no_such_rival"):
        run_trial(broken, Load.ONE_KEY, Course(2, 0.1, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_each_round_begins_with_another_contestant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    order: list[str] = []

    def run(contestant: Contestant, *_: object) -> Trial:
        order.append(contestant.name)
        return trial(len(order))

    monkeypatch.setattr(contest, "run_trial", run)
    ours, flock = contest.hold(Load.ONE_KEY, (OURS_DIRECTLY, FLOCK), Course(2, 1.0, tmp_path), rounds=3)
    assert order == ["Commonhold", "flock", "flock", "Commonhold", "Commonhold", "flock"]
    assert [each.grants for each in ours.trials] == [(1,), (4,), (5,)]
    assert [each.grants for each in flock.trials] == [(2,), (3,), (6,)]
    assert (ours.is_ours, flock.is_ours) == (True, False)


def test_what_a_trial_says() -> None:
    seen = trial(6, 0, 2, 0, seconds=2.0, handovers=5)
    assert (seen.rate, seen.handover_rate, seen.starved) == (4.0, 2.5, 2)
    assert seen.longest_wait_seconds == 0.6
    assert seen.lost == 0


@pytest.mark.parametrize(("grants", "index"), [((5, 5, 5, 5), 1.0), ((9, 0, 0, 0), 0.25), ((3, 1), 0.8), ((0, 0), 0.0)])
def test_jain_s_index(grants: tuple[int, ...], index: float) -> None:
    assert trial(*grants).fairness == pytest.approx(index)


def test_a_grant_after_the_end_is_not_counted_but_must_not_be_lost() -> None:
    facts, outcomes = trial(1).facts, (Outcome(3, 1, 0.1), Outcome(2, 0, 0.2))
    assert Trial(facts, 1.0, outcomes, Count(6, 1)).lost == 0
    assert Trial(facts, 1.0, outcomes, Count(4, 1)).lost == 2
    assert Trial(facts, 1.0, outcomes, Count(6, 1)).rate == 5.0


def test_ratios_are_taken_within_each_round() -> None:
    ours = series("ours", trial(10), trial(40), trial(90), is_ours=True)
    slow = series("slow", trial(10), trial(10), trial(10))
    fast = series("fast", trial(20), trial(20), trial(30))
    assert ours.against(slow, contest.RATE) == 4.0
    assert ours.against(fast, contest.RATE) == 2.0
    assert ours.against(series("still", *[trial(0)] * 3), contest.RATE) == math.inf
    assert best_rival((ours, slow, fast), contest.RATE) is fast


def test_the_rival_is_met_at_its_own_durability_and_at_the_full_one() -> None:
    ours = series("ours", trial(40), is_ours=True)
    relaxed = series("relaxed", trial(99, durability="NORMAL"), is_ours=True)
    rival = series("rival", trial(100, durability="NORMAL"))
    assert ours_at((ours, relaxed, rival), "NORMAL") is relaxed
    assert goals(list(contest.apart_checks((ours, relaxed, rival)))) == {
        "distinct keys, ours at FULL / rival at NORMAL": "≥ 0.5: missed",
        "distinct keys, ours at NORMAL / rival at NORMAL": "≥ 1.0: missed",
    }


def test_a_rival_at_full_durability_is_to_be_reached() -> None:
    checks = contest.apart_checks((series("ours", trial(100), is_ours=True), series("rival", trial(100))))
    assert goals(list(checks)) == {"distinct keys, ours at FULL / rival at FULL": "≥ 1.0: met"}


def test_a_durability_that_was_not_measured_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    rival = series("rival", trial(100, durability="OFF"))
    checks = goals(list(contest.apart_checks((series("ours", trial(90), is_ours=True), rival))))
    assert checks == {"distinct keys, ours at FULL / rival at OFF": "≥ 0.5: met"}
    assert "none of ours was at OFF, as rival is" in capsys.readouterr().out


def test_one_key_is_to_reach_all_and_to_change_hands_more_often() -> None:
    ours = series("ours", trial(5, 5, handovers=9), trial(5, 0, handovers=4), is_ours=True)
    keeper = series("keeper", trial(20, 0, handovers=0), trial(20, 0, handovers=0))
    sharer = series("sharer", trial(4, 4, handovers=7), trial(4, 4, handovers=3))
    assert goals(list(contest.together_checks((ours, keeper, sharer)))) == {
        "one key, ours: processes that got none": "0: missed",
        "one key, ours / keeper": "> 1: missed",
        "one key, to another process, ours / sharer": "> 1: met",
    }


def test_the_tally_tells_grants_and_changes_of_hands(tmp_path: Path) -> None:
    with closing(Tally(str(tmp_path), 1)) as one, closing(Tally(str(tmp_path), 2)) as two:
        assert one.count() == Count(0, 0)
        for each in (one, one, two, one):
            each.add_one(0.0)
        assert two.count() == Count(4, 2)


def test_grants_that_overlap_are_missing_from_the_tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Tally(str(tmp_path), 1)) as one, closing(Tally(str(tmp_path), 2)) as two:
        monkeypatch.setattr(time, "sleep", lambda _: two.add_one(0.0))
        one.add_one(0.5)
        assert one.count().grants == 1


class Scripted:
    """A driver whose every claim takes a second of a clock that only it moves."""

    def __init__(self, folder: str = "", agent: str = "") -> None:
        self.now, self.calls = 0.0, [folder + agent]

    def facts(self) -> Facts:
        raise NotImplementedError

    def claim(self, key: str) -> bool:
        self.now += 1.0
        self.calls.append(f"claim {key}")
        return True

    def claim_waiting(self, key: str) -> bool:
        return self.claim(key)

    def release(self, key: str) -> None:
        self.calls.append(f"release {key}")

    def close(self) -> None:
        raise NotImplementedError


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    driver = Scripted()
    monkeypatch.setattr(time, "monotonic", lambda: driver.now)
    return driver


def test_pairs_that_end_in_time_count(scripted: Scripted) -> None:
    assert claim_apart(scripted, "k", until=2.5) == Outcome(grants=2, late=0, longest_wait_seconds=1.0)
    assert scripted.calls[1:] == ["claim k", "release k"] * 3


def test_grants_that_come_in_time_count_and_a_wait_ends_with_the_trial(scripted: Scripted, tmp_path: Path) -> None:
    with closing(Tally(str(tmp_path))) as tally:
        assert claim_together(scripted, tally, 0.0, until=0.5) == Outcome(0, late=1, longest_wait_seconds=0.5)
        assert claim_together(scripted, tally, 0.0, until=3.5) == Outcome(2, late=1, longest_wait_seconds=1.0)
        assert tally.count() == Count(4, 0)


def test_polling_asks_until_granted_or_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, answers = [0.0], [False, False, True]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    assert poll(lambda: answers.pop(0), wait_seconds=1.0)
    assert clock == [pytest.approx(0.002)]
    assert not poll(lambda: False, wait_seconds=0.01)


def test_an_environment_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands: list[tuple[str, ...]] = []

    def run(*command: str) -> None:
        commands.append(command[1:4])
        (tmp_path / ".venv-rivals" / "thing-1.0").mkdir(exist_ok=True)

    monkeypatch.setattr(environments, "_run", run)
    interpreters = [environments.interpreter_with("thing==1.0") for _ in range(2)]
    assert interpreters == [str(tmp_path / ".venv-rivals/thing-1.0/bin/python")] * 2
    assert commands == [("-m", "venv", "--clear"), ("-m", "pip", "install")]
    assert (tmp_path / ".venv-rivals/.gitignore").read_text() == "*\n"


def test_each_rival_is_pinned_and_has_a_driver() -> None:
    assert all("==" in requirement for requirement in RIVALS)
    assert all(find_spec(driver) for driver in (OURS, *RIVALS.values()))
