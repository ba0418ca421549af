"""The metrics of a server, with their labels, as it shows them after calls of each kind."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping

from commonhold.kernel.errors import Code, InputError
from commonhold.server.call_counts import CallCounts
from commonhold.server.facts import Facts
from commonhold.server.network import metrics

SAMPLE = re.compile(r"^commonhold_(\w+)(?:\{(.*)\})? \S+$", re.MULTILINE)


def exposed() -> Mapping[str, Collection[str]]:
    """The labels of each metric, by its name without the prefix."""
    counts = CallCounts()
    counts.add("commit", InputError(Code.USAGE, "", hint=""), 0.1)
    counts._merges["merged", ""] += 1
    counts._outcomes["acquire", "denied", "LOCK_CONFLICT"] += 1
    facts = Facts(lambda: 1, lambda: "", lambda: dict.fromkeys(metrics._GAUGES, 1.0), counts)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, labels in SAMPLE.findall(metrics.exposed(facts, 1).decode()):
        found[name] |= set(re.findall(r"(\w+)=", labels))
    return found
