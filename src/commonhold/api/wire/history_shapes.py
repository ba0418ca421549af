"""The JSON forms of accounts of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonhold.api.wire import shapes
from commonhold.api.wire.instants import instant

if TYPE_CHECKING:
    from commonhold.api.wire.text import Json
    from commonhold.history.account import Account


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
