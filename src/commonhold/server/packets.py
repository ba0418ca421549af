"""What an agent is told in the answer to a hook: what happened, why, and the one next step. Pure.

Names, intents and texts of others are data: they are quoted, each on lines of their own, and nothing in them is an
instruction.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from commonhold.app.answers import AcquireAnswer, CommitAnswer, Needed, RepairRegion, TakeAnswer
from commonhold.app.happenings import told
from commonhold.app.pictures import Briefing, Change
from commonhold.app.proposing import MOST_SHOWN
from commonhold.domain.at_work import Presence
from commonhold.domain.keys import canonical
from commonhold.domain.lease import Conflict, Lease
from commonhold.domain.refusal import Refusal
from commonhold.domain.slots import path_of_slot
from commonhold.domain.texts import listed, quoted

_MOST_LISTED: Final = 8
_NEXT: Final = {
    Refusal.REGION_CHANGED: "read the file again, then redo your intent on what is there now; do not send the old text",
    Refusal.CONTRACT_CHANGED: "read again what changed, then redo your edit so that it fits",
    Refusal.PARSE_INVALID: "mend your text, then write again",
    Refusal.LOCK_CONFLICT: "do other work first; when they are done, read the file again and write again",
    Refusal.LEASE_LOST: "write again: the moment that was yours to write was over",
    Refusal.REQUIRE_ADDITIONAL_LOCKS: "mend what it concerns first, or do other work until it is free",
    Refusal.ESCALATION_REQUIRED: "do other work until what it concerns is free, or make a smaller change",
}
_MEND: Final = "next: mend what you owe; where nothing is to be done, a person closes it: `commonhold review waive KEY`"
BY_COMMAND: Final = (
    "change it with a shell command that names it (sed -i, cp, >), since that is looked at when it has ended; or ask "
    "your user to name it in .commonholdignore, if it is generated"
)
"""The next step where a file is too large to be judged before it is written."""
_OTHERWISE: Final = "look at what is there now, and plan the edit anew"


def refusal(answer: CommitAnswer) -> str:
    """Why a tool may not write, and what its agent needs to succeed next time."""
    code = answer.code or Refusal.LOCK_CONFLICT
    return told(
        f"Commonhold did not let this be written ({code}): {answer.why}",
        *map(_conflict, answer.conflicts[:_MOST_LISTED]),
        *map(_needed, answer.required[:_MOST_LISTED]),
        *(line for region in answer.repair.regions for line in _region(region)),
        *(f"notice: {notice}" for notice in answer.notices),
        f"next: {_NEXT.get(code, _OTHERWISE)}",
    )


def busy(answer: AcquireAnswer, paths: Sequence[str]) -> str:
    """That another just writes the same file, and was waited for in vain."""
    by = ", ".join(dict.fromkeys(each.holder for each in answer.conflicts)) or "another session"
    return told(
        f"Commonhold did not let this be written: {', '.join(paths)} is just being written by {by}",
        "next: write again in a moment",
    )


def denial(answer: AcquireAnswer) -> str:
    """That others hold what would be written, and were waited for in vain."""
    return told(
        "Commonhold did not let this be written (LOCK_CONFLICT): others hold what it changes",
        *map(_conflict, answer.conflicts[:_MOST_LISTED]),
        f"next: {_NEXT[Refusal.LOCK_CONFLICT]}",
    )


def unclear(path_and_why: str) -> str:
    """That it cannot be told what a tool would write."""
    return told(
        f"Commonhold did not let this be written: {path_and_why}",
        "next: read the file again, and give the text exactly as it is there",
    )


def reserved(paths: Sequence[str]) -> str:
    """That a tool would write what Commonhold itself keeps."""
    return told(
        f"Commonhold did not let this be written: {listed(paths, _MOST_LISTED)} is where it keeps its own state",
        "next: leave it alone; `commonhold status` and `commonhold log` tell what is in it",
    )


def foreign(source: str, paths: Sequence[str]) -> str:
    """That what is elsewhere would be moved here, where nobody has seen it."""
    return told(
        f"Commonhold did not let this be written: {source}, which would be moved to {listed(paths, _MOST_LISTED)}, is "
        "not in this working tree, so that what it holds is not known here",
        "next: write it here as a new file, then delete the other",
    )


def too_large(why: str) -> str:
    """That a file is too large to be judged before it is written."""
    return told(f"Commonhold did not let this be written: {why}", f"next: {BY_COMMAND}")


def unsaid(why: str) -> str:
    """That a call does not say what it would write."""
    return told(
        f"Commonhold did not let this be written: {why}",
        "next: call the tool again with all that it needs",
    )


def taken(answer: TakeAnswer) -> str:
    """That what a tool has written is not what could be admitted; empty where it is."""
    if answer.outcome != "unadmitted":
        return ""
    return told(
        f"Commonhold recorded what was written, but could not have admitted it ({answer.code}): {answer.why}",
        "nothing was taken back; what was there before is kept",
        f"next: mend it now; a person sees it with `commonhold review show {answer.review}`",
    )


def briefing(found: Briefing, now: float) -> str:
    """What others are doing, in a few lines; empty where there is nothing to say."""
    at_work = [each for each in found.others if not each.is_at_rest]
    lines = [
        *map(_presence, at_work[:_MOST_LISTED]),
        *map(_lease, found.leases[:_MOST_LISTED]),
        *(_change(each, now) for each in found.changes[:_MOST_LISTED]),
        *(f"left half done by {each.holder}: {quoted(each.task)} (commonhold review)" for each in found.works[:3]),
        *(f"owed by you: {debt.key}, since {debt.why}" for debt in found.debts[:_MOST_LISTED]),
        *([_MEND] if found.debts else []),
    ]
    if not lines:
        return ""
    head = "Commonhold: others work in this repository, too. What you read and write is watched for you; as of now:"
    return told(head, *lines)


def _presence(presence: Presence) -> str:
    what = f" is at work on {quoted(presence.intent)}" if presence.intent else " is at work"
    return f"- {presence.holder}{what}"


def _lease(lease: Lease) -> str:
    return f"- {lease.holder} holds {listed(lease.keys, _MOST_LISTED)}{_for(lease.task)}"


def _change(change: Change, now: float) -> str:
    minutes = max(0, round((now - change.at) / 60))
    files = list(dict.fromkeys(canonical(key).file_path for key in change.keys))
    return f"- {change.holder} changed {listed(files, _MOST_LISTED)} {minutes} min ago{_for(change.intent)}"


def _conflict(conflict: Conflict) -> str:
    path = path_of_slot(conflict.held)
    what = f"just writes {path}" if path else f"holds {conflict.held}"
    until = "" if path else f", at most until {datetime.fromtimestamp(conflict.expires_at, UTC):%H:%M:%S} UTC"
    return f"- {conflict.holder} {what}{_for(conflict.task)}{until}"


def _needed(needed: Needed) -> str:
    return f"- {needed.key} ({needed.where}): {needed.why}"


def _region(region: RepairRegion) -> Iterator[str]:
    by = f", changed by {region.changed_by}{_for(region.intent or '')}" if region.changed_by else ""
    if region.hash is None:
        yield f"--- {region.key} is not there any more{by}"
        return
    yield f"--- {region.key} as it is now{by}:"
    if region.text is not None and len(region.text) <= MOST_SHOWN:
        yield region.text.rstrip("\n")
    else:
        yield "(too long to be shown here)"
    if region.diff and len(region.diff) <= MOST_SHOWN:
        yield "--- what changed since you read it:"
        yield region.diff.rstrip("\n")


def _for(intent: str) -> str:
    return f" for {quoted(intent)}" if intent else ""
