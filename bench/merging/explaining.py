"""One pair, in full: what each side made of the contested files, and what ours has to say of them."""

import difflib
from collections.abc import Iterator, Sequence

from bench.merging.dataset import Feature, Task
from bench.merging.methods import Versions, by_git, by_union, by_us, merge_file
from bench.merging.pairs import Setting, name_of, sides_of, versions_of
from bench.merging.repository import Changes, Repository
from bench.merging.suites import Runner
from commonhold.merging.verdict import Lines, Proven, Spot, Unproven


def explain(setting: Setting, task: Task, pair: tuple[Feature, Feature]) -> Iterator[str]:
    """Lines to read."""
    store, versions = Repository(setting.store), versions_of(task, pair)
    runner = Runner(setting.work, store, setting.python)
    yield f"===== {name_of(task, pair)}"
    yield f"git: {_said(runner, task, pair, by_git(store, task.commit, pair[0].commit, pair[1].commit))}"
    yield f"union: {_said(runner, task, pair, by_union(versions))}"
    answered = by_us(versions, sides_of(pair))
    if not answered.unproven:
        yield f"ours: PROVEN, {_said(runner, task, pair, answered.composed())}"
    for path, answer in answered.answers.items():
        yield from _file(versions, path, answer)
        yield answered.crashes.get(path, "")
    for number, (composed, how) in enumerate(answered.candidates(setting.tries), 1):
        yield f"----- candidate {number}: {how}: {_said(runner, task, pair, composed)}"


def _said(runner: Runner, task: Task, pair: Sequence[Feature], composed: Changes | None) -> str:
    if composed is None:
        return "refused"
    outcomes = {each.number: runner.outcome(task, composed, each) for each in pair}
    failed = "\n".join(f"  {number} FAILS: {each.said[-600:]}" for number, each in outcomes.items() if not each.passed)
    return failed or "passes both"


def _file(versions: Versions, path: str, answer: Proven | Unproven) -> Iterator[str]:
    base, ours, theirs = versions.of(path)
    for name, source in (("ours", ours), ("theirs", theirs)):
        yield f"----- {path}: {name}"
        yield from _difference(base, source)
    if isinstance(answer, Proven):
        yield f"----- {path}: PROVEN {'; '.join(answer.notes)}"
        yield from _difference(base, answer.source)
        return
    yield f"----- {path}: git's own conflicts: {merge_file('', base, ours, theirs).returncode}"
    for spot in answer.spots:
        yield from _spot(spot, base, ours, theirs)


def _difference(before: bytes, after: bytes) -> Iterator[str]:
    old, new = (source.decode(errors="replace").splitlines() for source in (before, after))
    return (line for line in difflib.unified_diff(old, new, lineterm="", n=2) if not line.startswith(("---", "+++")))


def _spot(spot: Spot, base: bytes, ours: bytes, theirs: bytes) -> Iterator[str]:
    yield f"  SPOT {spot.reason}: {spot.why}"
    for name, lines, source in (("base", spot.base, base), ("ours", spot.ours, ours), ("theirs", spot.theirs, theirs)):
        yield f"    {name} {lines[0] + 1}-{lines[1]}"
        yield from (f"      | {line}" for line in _within(source, lines))


def _within(source: bytes, lines: Lines) -> list[str]:
    return source.decode(errors="replace").splitlines()[lines[0] : lines[1]]
