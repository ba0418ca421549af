"""Merging on real work: `make bench-merge ARGS="--cooperbench DIR --repos DIR... --peers DIR... --work DIR"`.

The folders are git repositories, bare or not, of CooperBench, of the projects that its tasks begin with, and of other
merge tools.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.merging import (
    changelogs,
    explaining,
    histories,
    pairs,
    peers,
    speed,
    telling_histories,
    telling_pairs,
    telling_peers,
    tree,
)
from bench.merging.dataset import Dataset
from bench.merging.environment import interpreter
from bench.merging.generated import part as generated
from bench.merging.repository import Repository, store


def arguments() -> argparse.Namespace:
    """What may be chosen."""
    parser = argparse.ArgumentParser(prog="python -m bench.merging", description=__doc__)
    parser.add_argument("--cooperbench", type=Path, help="the repository of the data set")
    parser.add_argument("--repos", type=Path, nargs="+", default=[], help="the repositories of the projects")
    parser.add_argument("--peers", type=Path, nargs="+", default=[], help="the repositories of other merge tools")
    parser.add_argument("--work", type=Path, help="a folder where test outcomes are kept from run to run")
    parser.add_argument("--python", help="an interpreter with what the projects' tests need; by default one is made")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure")
    parser.add_argument("--only", nargs="+", default=[], help="some tasks, as click/task2068")
    parser.add_argument("--pairs", nargs="+", default=[], help="some pairs, as 1-12")
    parser.add_argument("--tries", type=int, default=16, help="how many candidates to try at most")
    parser.add_argument("--no-check", action="store_true", help="try no candidates: PROVEN or REFUSED")
    parser.add_argument(
        "--explain", metavar="NAME", help="tell all about one, as click/task2068/1-12, flask:COMMIT:PATH or peers:NAME"
    )
    parser.add_argument("--others", action="store_true", help="run the tests that neither feature changed, too")
    parser.add_argument("--processes", type=int, default=2, help="how many work at once")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="the folder for results")
    parser.add_argument("--against", type=Path, help="earlier results to compare with")
    _add_generated(parser)
    return parser.parse_args()


def _add_generated(parser: argparse.ArgumentParser) -> None:
    """What may be chosen of the part `generated`."""
    parser.add_argument("--languages", nargs="+", choices=generated.LANGUAGES, default=list(generated.LANGUAGES))
    parser.add_argument("--files", type=int, default=12, help="how many real files of each language to edit")
    parser.add_argument("--rounds", type=int, default=8, help="how often to edit our own program of each language")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same edits")


def measure_pairs(chosen: argparse.Namespace, work: Path) -> None:
    """Merge pairs of features, and run the tests of both."""
    setting, dataset = opened(chosen, work)
    names = [name for name in dataset.names() if not chosen.only or name in chosen.only]
    at_hand = [name for name in names if dataset.has_commit(name)]
    print(f"{len(at_hand)} tasks; of {len(names) - len(at_hand)} the commit is in none of the repositories")
    results = pairs.measure(setting, map(dataset.task, at_hand), chosen.pairs, chosen.processes)
    telling_pairs.write(chosen.out / "merging-pairs.jsonl", results)
    telling_pairs.tell(results)
    if chosen.against:
        telling_pairs.compare(results, chosen.against)


def opened(chosen: argparse.Namespace, work: Path) -> tuple[pairs.Setting, Dataset]:
    """The data set, and where its trees are."""
    kept = store(work / "store.git", map(Repository, chosen.repos))
    tries = 0 if chosen.no_check else chosen.tries
    setting = pairs.Setting(work, kept.place, chosen.python or interpreter(work), tries, chosen.others)
    return setting, Dataset(Repository(chosen.cooperbench), kept)


def measure_histories(chosen: argparse.Namespace, work: Path) -> None:
    """Merge what both sides changed in each merge of the histories."""
    seen = histories.measure([Repository(each) for each in chosen.repos], work, chosen.processes)
    telling_histories.write(chosen.out / "merging-histories.jsonl", seen)
    telling_histories.tell(seen)


def measure_changelogs(chosen: argparse.Namespace, _work: Path) -> None:
    """Replay changes of the projects' change logs as two sides."""
    changelogs.tell(changelogs.measure([Repository(each) for each in chosen.repos], chosen.processes))


def measure_peers(chosen: argparse.Namespace, _work: Path) -> None:
    """Merge the examples of other merge tools."""
    outcomes = peers.measure(map(Repository, chosen.peers), chosen.processes)
    telling_peers.write(chosen.out / "merging-peers.jsonl", outcomes)
    telling_peers.tell(outcomes)


def explain(chosen: argparse.Namespace, work: Path) -> None:
    """Tell all about one pair or one file."""
    if chosen.explain.startswith("peers:"):
        lines = peers.explain(map(Repository, chosen.peers), chosen.explain.removeprefix("peers:"))
    elif ":" in chosen.explain:
        lines = histories.explain([Repository(each) for each in chosen.repos], work, chosen.explain)
    else:
        setting, dataset = opened(chosen, work)
        name, _, numbers = chosen.explain.rpartition("/")
        task = dataset.task(name)
        chosen_pair = next(pair for pair in task.pairs if [str(each.number) for each in pair] == numbers.split("-"))
        lines = explaining.explain(setting, task, chosen_pair)
    print("\n".join(lines))


def measure_speed(_chosen: argparse.Namespace, _work: Path) -> None:
    """Merge files of about 1,000 lines, and a branch of 1,000 files."""
    speed.measure()
    tree.measure()


def measure_generated(chosen: argparse.Namespace, work: Path) -> None:
    """Merge typed edits by the thousand, and let the front ends of their languages judge."""
    plan = generated.Plan(chosen.files, chosen.rounds, chosen.seed)
    generated.measure(plan, chosen.languages, work, chosen.out, chosen.processes)


PARTS: Final = {
    "pairs": measure_pairs,
    "histories": measure_histories,
    "changelogs": measure_changelogs,
    "peers": measure_peers,
    "speed": measure_speed,
    "generated": measure_generated,
}
_NEEDS: Final = {"pairs": "cooperbench", "peers": "peers"}


def run(chosen: argparse.Namespace, work: Path) -> None:
    """Do what was asked for."""
    if chosen.explain:
        explain(chosen, work)
        return
    for part in chosen.parts:
        if part not in _NEEDS or getattr(chosen, _NEEDS[part]):
            PARTS[part](chosen, work)


def main() -> int:
    """Work in the folder that was named, or in one that is gone afterwards."""
    chosen = arguments()
    if chosen.work:
        chosen.work.mkdir(parents=True, exist_ok=True)
        run(chosen, chosen.work.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="bench-merging-") as folder:
            run(chosen, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
