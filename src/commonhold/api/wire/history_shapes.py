"""The JSON forms of the answers of explain and replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commonhold.api.wire import shapes
from commonhold.api.wire.instants import instant

if TYPE_CHECKING:
    from commonhold.api.wire.text import Json
    from commonhold.history.answers import Account, ReplayAnswer


def account(found: Account) -> Json:
    """An account of past events. `code` is null for an event that is no refusal."""
    return {
        "subject": found.subject,
        "name": found.name,
        "steps": [
            {
                "sequence": each.sequence,
                "at": instant(each.at),
                "kind": each.kind,
                "text": each.text,
                "reasons": list(each.reasons),
                "code": each.code or None,
            }
            for each in found.steps
        ],
        "since": found.since,
        "left_out": found.left_out,
        "next": shapes.next_call(found.next),
    }


def replay(found: ReplayAnswer) -> Json:
    """The result of a replay: what was checked, the first difference, and the state after the last event."""
    return {
        "outcome": found.outcome,
        "first": found.first,
        "last": found.last,
        "events": dict(found.events),
        "checked": dict(found.checked),
        "difference": msgspec.to_builtins(found.difference) if found.difference else None,
        **shapes.leases(found.leases, found.waiters),
        "tasks": {each.id: each.state.value for each in found.tasks},
        "stored_state_compared": found.is_stored,
        "compacted": found.compacted,
    }
