"""The bench of contention, every part at sizes that only show that it works."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from bench.contention import crew, served
from bench.contention.__main__ import PARTS, main
from bench.contention.client import Tally
from bench.contention.hostile import CORPUS
from bench.contention.package import KINDS, lay_out, written
from tests.patience import until
from tests.processes import is_alive

import commonhold
from bench import reporting
from commonhold import Changeset

EXPECTED: Mapping[str, tuple[str, ...]] = {
    "scaling": ("one file, contract, 2 clients: BUSY", "one file, contract: rate of 2 clients against 1"),
    "size": ("1,000 lines: body: commit against them", "1,000 lines: contract, 20 callers: commit against them"),
    "reads": ("read, others commit: p99 against alone", "get, others commit: p99 against alone"),
    "kills": ("acknowledged", "lost", "doubled"),
    "endurance": ("commits", "memory after against before", "descriptors after"),
    "hooks": ("hook before an edit, over HTTP: median",),
    "hostile": ("stars.ts, get: added", "stars.ts, commit: added"),
    "demo": ("2 agents: ended with another exit code than 0", "2 agents, commonhold: times one agent's speed"),
}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_a_part_writes_its_figures(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "FOLDER", tmp_path)
    main(["--quick", "--parts", part])
    figures = json.loads((tmp_path / f"contention-{part}.json").read_text())["figures"]
    values = {each["name"]: each["value"] for each in figures}
    assert len(values) == len(figures), "two figures have one name"
    assert set(EXPECTED[part]) <= set(values)
    if part == "kills":
        assert (values["lost"], values["doubled"]) == (0, 0)
        assert values["acknowledged"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "note"])
def test_an_edit_of_each_kind_is_committed_and_changes_the_file(kind: str) -> None:
    with served.repository(lay_out) as root, commonhold.open(str(root), agent="a", daemon=True) as hold:
        before = (root / "pkg/m20.py").read_text()
        edit = written(hold, kind, "pkg/m20.py#f20_1", "t1")
        assert hold.commit(Changeset((edit,), "t")).outcome == "committed"
        after = (root / "pkg/m20.py").read_text()
        assert after != before
        assert "t1" in after
        pid = served.daemon(root)
    assert not root.exists()
    until(lambda: not is_alive(pid), what="the daemon, which has let go of its repository, ends")


@pytest.mark.slow
def test_the_clients_of_a_crew_edit_apart_and_stop_when_told() -> None:
    with served.repository(lay_out) as root:
        of = crew.tasks(root, 2, ("body",), crew.ENDLESS)
        assert not set(of[0].keys) & set(of[1].keys)
        with crew.crew(of) as members:
            members.begin()
            tallies = members.stop()
    assert all(each.seconds > 0 for each in tallies)


def test_what_a_run_says_of_its_clients() -> None:
    tallies = [Tally([0.1, 0.3], {"REPOSITORY_BUSY": 2, "REGION_CHANGED": 1}, 1.0), Tally([0.1, 0.5], {}, 1.0)]
    ran = crew.Run(tallies, seconds=2.0, cpu_seconds=0.4)
    assert ran.rate == 2.0
    assert ran.cpu_per_commit == 0.1
    assert ran.fairness == 1.0
    assert ran.longest_against_median == pytest.approx(2.5)
    assert ran.busy == 2
    assert sum(ran.refused.values()) == 3


def test_a_figure_says_whether_its_goal_is_met() -> None:
    assert reporting.at_least("n", 1.8, "", 1.8).goal == "≥ 1.8: met"
    assert reporting.at_least("n", 1.7, "", 1.8).goal == "≥ 1.8: missed"
    assert reporting.at_most("n", 3.0, "", 3).goal == "≤ 3: met"
    assert reporting.at_most("n", 3.1, "", 3).goal == "≤ 3: missed"


def test_a_quantile_is_a_measured_value() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert reporting.quantile(values, 0.5) == 50
    assert reporting.quantile(values, 0.99) == 99
    assert reporting.quantile(values, 1.0) == 100
    with pytest.raises(ValueError, match="nothing was measured"):
        reporting.quantile([], 0.5)


def test_the_hostile_files_are_small() -> None:
    assert all(len(source) < 100_000 for source in CORPUS.values())
