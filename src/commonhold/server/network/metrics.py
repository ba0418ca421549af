"""The metrics of a daemon, in the text format of Prometheus."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import commonhold
from commonhold.server.facts import Facts

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"
_GAUGES: Final[Mapping[str, str]] = {
    "leases": "Live leases.",
    "waiters": "Sessions that wait in line for a lease.",
    "partial_works": "Partial works that wait for a review.",
    "newest_event": "The sequence of the newest event.",
    "watchers": "Clients that follow the events.",
    "up_seconds": "The time since the daemon started.",
}


def exposed(facts: Facts, watchers: int) -> bytes:
    """Return all metrics."""
    return "".join(f"{line}\n" for line in _lines(facts, watchers)).encode()


def _lines(facts: Facts, watchers: int) -> Iterator[str]:
    counts = facts.counts
    outcomes = counts.outcomes()
    yield from _family("build_info", "gauge", "The version.", [({"version": commonhold.__version__}, 1)])
    yield from _family("calls_total", "counter", "Calls of the service, by operation, outcome and code.", [
        ({"operation": name, "outcome": word, "code": code}, count) for (name, word, code), count in outcomes
    ])  # fmt: skip
    yield from _family("grants_total", "counter", "Leases granted.", [({}, _sum(outcomes, "acquire", "granted"))])
    yield from _family("conflicts_total", "counter", "Leases denied.", [({}, _sum(outcomes, "acquire", "denied"))])
    yield from _family("waits_total", "counter", "Places in line that sessions took.", [({}, counts.waits)])
    refusals: dict[str, int] = {}
    for (_, word, code), count in outcomes:
        if word in ("refused", "denied"):
            refusals[code] = refusals.get(code, 0) + count
    yield from _family(
        "refusals_total", "counter", "Calls refused, by code.", [({"code": each}, refusals[each]) for each in refusals]
    )
    yield from _family("merges_total", "counter", "Merges of changed regions, by verdict and reason.", [
        ({"verdict": verdict, "reason": reason}, count) for (verdict, reason), count in counts.merges()
    ])  # fmt: skip
    for name, value in {**facts.gauges(), "watchers": watchers}.items():
        yield from _family(name, "gauge", _GAUGES[name], [({}, value)])
    yield from _histogram(facts)


def _sum(outcomes: Iterable[tuple[tuple[str, str, str], int]], operation: str, outcome: str) -> int:
    return sum(count for (name, word, _), count in outcomes if (name, word) == (operation, outcome))


def _histogram(facts: Facts) -> Iterator[str]:
    full = "commonhold_call_seconds"
    yield f'# HELP {full} How long calls took, those of waiting sessions included. Commits: operation="commit".'
    yield f"# TYPE {full} histogram"
    for name, buckets, count, seconds in facts.counts.durations():
        label = f'operation="{name}"'
        yield from (f'{full}_bucket{{{label},le="{bound:g}"}} {below}' for bound, below in buckets)
        yield f'{full}_bucket{{{label},le="+Inf"}} {count}'
        yield f"{full}_sum{{{label}}} {seconds:.6f}"
        yield f"{full}_count{{{label}}} {count}"


def _family(name: str, kind: str, meaning: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> Iterator[str]:
    full = f"commonhold_{name}"
    yield f"# HELP {full} {meaning}"
    yield f"# TYPE {full} {kind}"
    for labels, value in samples:
        told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        yield f"{full}{{{told}}} {value}" if told else f"{full} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
