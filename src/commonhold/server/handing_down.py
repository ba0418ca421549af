"""What a session holds for itself is no obstacle to the parts of it that work for it."""

from collections.abc import Callable, Iterable

from commonhold.app.proposing import OURS
from commonhold.client.session import Commonhold
from commonhold.domain.lease import Conflict


def handed_down(session: Commonhold, part: Commonhold, conflicts: Iterable[Conflict]) -> bool:
    """Hand over to a part what was leased to its session by edits and stands in its way; whether there was any.

    The session waits for what it has asked the part to do, so the part would wait for ever. What the session asked for
    by itself stays with it.
    """
    in_the_way = {each.held for each in conflicts if each.holder == session.holder}
    return hand_down(session, part, in_the_way.__contains__)


def hand_down(session: Commonhold, part: Commonhold, is_needed: Callable[[str], bool]) -> bool:
    """The same for the keys that `is_needed` says."""
    leases = [
        lease
        for lease in session.leases(holder=session.holder)
        if lease.acquisition_id in OURS and any(map(is_needed, lease.keys))
    ]
    answers = [session.hand_over(lease.id, to=part.holder) for lease in leases]
    return any(answer.outcome == "handed_over" for answer in answers)
