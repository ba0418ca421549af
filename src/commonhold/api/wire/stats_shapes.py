"""The JSON form of statistics."""

from typing import Final

from commonhold.api.wire.instants import instant
from commonhold.api.wire.text import Json
from commonhold.commits.statistics import Statistics

MOST_KEYS: Final = 10


def statistics(found: Statistics) -> Json:
    """Return the counts; times in seconds, `contended` the ten keys that sessions collided at most often."""
    return {
        "since": instant(found.since) if found.since else None,
        "until": instant(found.until) if found.events else None,
        "events": found.events,
        "sessions": len(found.sessions),
        "leases": {
            "granted": found.granted,
            "collisions": found.collisions,
            "queued": found.queued,
            "expired": found.expired,
            "broken": found.broken,
            "unfinished_works": found.left,
        },
        "commits": {
            "admitted": found.commits,
            "merged": found.merged,
            "merged_regions": found.merged_regions,
            "unadmitted": found.unadmitted,
            "refused": sum(found.refused.values()),
            "refused_by_code": dict(found.refused.most_common()),
            "repaired": found.repaired,
            "repair_seconds": round(found.repair_seconds, 3),
        },
        "waits": {
            cause: {"count": wait.count, "seconds": round(wait.seconds, 3)}
            for cause, wait in sorted(found.waits.items())
        },
        "contended": dict(found.contended.most_common(MOST_KEYS)),
        "tasks": {"added": found.tasks_added, **{move.value: count for move, count in sorted(found.moves.items())}},
    }
