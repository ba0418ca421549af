"""A session's leases do not block its subagents, and an ended subagent's leases do not block its session."""

from collections.abc import Callable, Iterable

from commonhold.client.session import Commonhold
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.lease import Conflict
from commonhold.kernel.purposes import OURS
from commonhold.kernel.texts import short_name


def handed_over(giver: Commonhold, taker: Commonhold, conflicts: Iterable[Conflict]) -> bool:
    """Hand over to `taker` the conflicting leases that edits of `giver` took; return whether there were any.

    A session waits for the work of its subagent, so the subagent would wait forever. A subagent that is silent may
    have been stopped without a report. Leases that either has asked for by itself stay with it.
    """
    in_the_way = {each.held for each in conflicts if each.holder == giver.holder}
    return bool(in_the_way) and hand_over(giver, taker, in_the_way.__contains__)


def hand_over(giver: Commonhold, taker: Commonhold, is_needed: Callable[[str], bool]) -> bool:
    """Do the same for the keys that `is_needed` selects."""
    leases = [
        lease
        for lease in giver.leases(holder=giver.holder)
        if lease.acquisition_id in OURS and any(map(is_needed, lease.keys))
    ]
    answers = [giver.hand_over(lease.id, to=taker.holder) for lease in leases]
    return any(answer.outcome == "handed_over" for answer in answers)


def end_part(part: Commonhold, session: str) -> RecordAnswer:
    """End a subagent's hold: release its explicit leases too, and tell its session of its obligations."""
    answer = part.end_turn()
    for lease in part.leases(holder=part.holder):
        if lease.acquisition_id == lease.id:  # not the lease for its command that still runs
            part.release(lease.id)
    owed = [f"{debt.key}, since {debt.why}" for debt in part.briefing().debts]
    if owed:
        part.send(
            [session],
            f"{short_name(part.holder)}, your subagent, ended, and you inherit its debts: {'; '.join(owed)}",
        )
    return answer
