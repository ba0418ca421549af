"""What became of all pairs, in tables."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.merging.pairs import Result, Tried
from bench.merging.reasons import MANY, tell_reasons
from commonhold.merging.verdict import Verdict


def write(path: Path, results: Iterable[Result]) -> None:
    """Keep the results, a pair a line, so that two runs can be compared."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(each), sort_keys=True) + "\n" for each in results))


def read(path: Path) -> dict[str, dict[str, object]]:
    """Results that were kept, by pair."""
    rows = (json.loads(line) for line in path.read_text().splitlines())
    return {row["pair"]: row for row in rows}


def tell(results: Sequence[Result]) -> None:
    """Print how each method fares, and why ours refuses."""
    print(f"\n{len(results)} pairs           pass both  broken  refused")
    for name, tried in _methods():
        passed, broken, refused = count(tried(each) for each in results)
        print(f"  {name:<22}{passed:>9}{broken:>8}{refused:>9}")
    _tell_verdicts(results)
    _tell_reasons([each for each in results if each.ours.verdict == Verdict.REFUSED])
    for each in results:
        for path, crash in each.crashes.items():
            print(f"\nCRASHED on {each.pair} {path}\n{crash}")


def _methods() -> Iterator[tuple[str, Callable[[Result], Tried]]]:
    yield "git", lambda each: each.git
    yield "union of lines", lambda each: each.union
    yield "ours, PROVEN alone", _proven
    yield "ours, with the check", lambda each: each.ours


def _proven(result: Result) -> Tried:
    return result.ours if result.ours.verdict == Verdict.PROVEN else Tried(Verdict.REFUSED)


def count(tried: Iterable[Tried]) -> tuple[int, int, int]:
    """How many pass both suites, are merged and broken, are refused."""
    seen = Counter(each.passed for each in tried)
    return seen[True], seen[False], seen[None]


def _tell_reasons(refused: Sequence[Result]) -> None:
    print()
    tell_reasons(each.spots for each in refused)
    print("\nthough the union of lines passes, ", end="")
    tell_reasons(each.spots for each in refused if each.union.passed)


def _tell_verdicts(results: Sequence[Result]) -> None:
    broken = [each.pair for each in results if each.ours.passed is False]
    print(f"\nPROVEN but broken (must be none): {' '.join(broken) or 'none'}")
    _tell_others([each for each in results if each.others is not None])
    refused = [each for each in results if each.ours.verdict == Verdict.REFUSED]
    for name, tried in list(_methods())[:2]:
        needless = [each.pair for each in refused if tried(each).passed]
        print(f"refused though {name} passes: {len(needless)} {' '.join(needless[:MANY])}")
    verified = [each.tries for each in results if each.ours.verdict == Verdict.VERIFIED]
    print(f"VERIFIED at try: {dict(sorted(Counter(verified).items()))}")
    print(f"refused without a candidate: {sum(not each.candidates for each in refused)} of {len(refused)}")
    times = sorted(each.seconds for each in results)
    print(f"merging took {times[len(times) // 2] * 1e3:.1f} ms a pair at the median, {times[-1] * 1e3:.1f} ms at most")


def _tell_others(asked: Sequence[Result]) -> None:
    """The tests that neither feature changed were no part of the check: what they say is news."""
    for verdict in (Verdict.PROVEN, Verdict.VERIFIED) if asked else ():
        group = [each for each in asked if each.ours.verdict == verdict]
        broken = [each.pair for each in group if not each.others]
        print(f"of {len(group)} {verdict}, break tests that neither feature changed: {' '.join(broken) or 'none'}")


def compare(results: Iterable[Result], earlier: Path) -> None:
    """Print the pairs whose verdict by ours is another than before."""
    before = read(earlier)
    print(f"\nother than in {earlier}")
    for each in results:
        was = before.get(each.pair, {}).get("ours")
        if was is not None and was != asdict(each.ours):
            print(f"  {each.pair}: {was} -> {asdict(each.ours)}")
