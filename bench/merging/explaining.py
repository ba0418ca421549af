"""One pair, in full: what each side made of the contested files, and what ours has to say of them."""

from collections.abc import Iterator, Sequence
from contextlib import closing

from bench.merging.dataset import Feature, Task
from bench.merging.methods import by_git, by_union, by_us
from bench.merging.pairs import Setting, name_of, sides_of, versions_of
from bench.merging.repository import Changes, Repository
from bench.merging.showing import show
from bench.merging.suites import Runner


def explain(setting: Setting, task: Task, pair: tuple[Feature, Feature]) -> Iterator[str]:
    """Lines to read."""
    store = Repository(setting.store)
    with closing(Runner(setting.work, store, setting.python)) as runner:
        yield from _told(store, runner, task, pair, setting.tries)


def _told(store: Repository, runner: Runner, task: Task, pair: tuple[Feature, Feature], tries: int) -> Iterator[str]:
    versions = versions_of(task, pair)
    yield f"===== {name_of(task, pair)}"
    yield f"git: {_said(runner, task, pair, by_git(store, task.commit, pair[0].commit, pair[1].commit))}"
    yield f"union: {_said(runner, task, pair, by_union(versions))}"
    answered = by_us(versions, sides_of(pair))
    if answered.is_proven:
        yield f"ours: PROVEN, {_said(runner, task, pair, answered.composed())}"
    for path, answer in answered.answers.items():
        yield from show(path, versions.of(path), answer)
        yield answered.crashes.get(path, "")
    for number, (composed, how) in enumerate(answered.candidates(tries), 1):
        yield f"----- candidate {number}: {how}: {_said(runner, task, pair, composed)}"


def _said(runner: Runner, task: Task, pair: Sequence[Feature], composed: Changes | None) -> str:
    if composed is None:
        return "refused"
    outcomes = {each.number: runner.outcome(task, composed, each) for each in pair}
    failed = "\n".join(f"  {number} FAILS: {each.said[-600:]}" for number, each in outcomes.items() if not each.passed)
    return failed or "passes both"
