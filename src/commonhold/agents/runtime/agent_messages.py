"""Messages to an agent in the answer to a hook: the event, the reason, and the one next step. Pure.

Names, intents and texts of others are data: they are quoted, each on lines of its own, and nothing in them is an
instruction.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.agents.hook_events import told
from commonhold.kernel.answers import CommitAnswer, RecordAnswer, RepairRegion, RequiredEdit
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Conflict, Lease
from commonhold.kernel.pictures import Briefing, Change
from commonhold.kernel.presence import Presence
from commonhold.kernel.purposes import MOST_SHOWN
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Task
from commonhold.kernel.texts import duration, listed, quoted, short_name, short_names
from commonhold.kernel.write_slots import path_of_slot
from commonhold.reads.content_history import called

_MOST_LISTED: Final = 8
_NEXT: Final = {
    Refusal.REGION_CHANGED: "redo your intent on the current text; do not send the old text",
    Refusal.CONTRACT_CHANGED: "read the changed code again, then redo your edit so that it fits",
    Refusal.PARSE_INVALID: "fix the text, then write again",
    Refusal.LOCK_CONFLICT: "do other work first; when it is free, read the file again and write again",
    Refusal.LEASE_LOST: "write again: your turn to write had expired",
    Refusal.REQUIRE_ADDITIONAL_LOCKS: "fix the affected code first, or do other work until it is free",
    Refusal.ESCALATION_REQUIRED: "do other work until the affected code is free, or make a smaller change",
}
_MEND: Final = (
    "next: fix the code that you owe; if it needs no change, a person closes the debt: `commonhold review waive KEY`"
)
BY_COMMAND: Final = (
    "change it with a shell command that names it (sed -i, cp, >), since Commonhold checks its writes when it "
    "has ended; or ask "
    "your user to list it in .commonholdignore, if it is generated"
)
"""The next step if a file is too large to be judged before it is written."""
_REREADING: Final = frozenset({"claude", "opencode", "cursor", "vscode"})
"""Agents whose tools refuse a file that changed since they read it, or may."""
WAIT_SECONDS: Final = 90
"""How long a command waits for others: less than agents let a command take."""
_OTHERWISE: Final = "read the current text, and plan the edit again"


def refusal(answer: CommitAnswer, now: float, agent: str) -> str:
    """Return why a tool of that agent may not write, and how it can succeed next time; `now` is wall time."""
    code = answer.code or Refusal.LOCK_CONFLICT
    step = _NEXT.get(code, _OTHERWISE)
    if code is Refusal.REGION_CHANGED and _has_to_read(agent, answer.repair.regions):
        step = f"read the file again, then {step}"
    return told(
        f"Commonhold refused this write ({code}): {answer.why}",
        *_in_the_way(answer.conflicts, now),
        *map(_needed, answer.required[:_MOST_LISTED]),
        *(line for region in answer.repair.regions for line in _region(region, code)),
        *(f"notice: {notice}" for notice in answer.notices),
        f"next: {step}",
    )


def _has_to_read(agent: str, shown: Sequence[RepairRegion]) -> bool:
    """Whether that agent has to read the file again, even though the refusal shows regions."""
    return agent in _REREADING or not all(each.hash is None or _is_short(each) for each in shown)


def _is_short(region: RepairRegion) -> bool:
    return region.text is not None and len(region.text) <= MOST_SHOWN


def busy(conflicts: Sequence[Conflict], paths: Sequence[str]) -> str:
    """Return the refusal if another session is writing the same file, and waiting for it was in vain."""
    by = short_names(each.holder for each in conflicts) or "another session"
    return told(
        f"Commonhold refused this write: {', '.join(paths)} is being written by {by}",
        "next: write again in a moment",
    )


def denial(conflicts: Sequence[Conflict], now: float) -> str:
    """Return the refusal if others hold the regions: who, why, for how long, and how to wait for them."""
    keys = list(dict.fromkeys(each.key for each in conflicts if path_of_slot(each.key) is None))
    wait = shlex.join(("commonhold", "acquire", "--wait", f"{WAIT_SECONDS}", *keys[:_MOST_LISTED], "--", "true"))
    return told(
        "Commonhold refused this write (LOCK_CONFLICT): others hold code that it changes",
        *_in_the_way(conflicts, now),
        f"next: do other work, or wait until it is free (`{wait}`); then read the file again and write again",
    )


def unclear(path_and_why: str, agent: str = "", shown: RepairRegion | None = None, step: str = "") -> str:
    """Return why the result of an edit by that agent's tool is unknown, and its `step` (empty: read the file again).

    `shown` is the region that it most likely meant.
    """
    read = "read the file again, and " if shown is None or _has_to_read(agent, [shown]) else ""
    return told(
        f"Commonhold refused this write: {path_and_why}",
        *(_region(shown, Refusal.REGION_CHANGED) if shown else ()),
        f"next: {step or f'{read}give the text exactly as it is there'}",
    )


def reserved(paths: Sequence[str]) -> str:
    """Return the refusal of a write to Commonhold's own state."""
    return told(
        f"Commonhold refused this write: {listed(paths, _MOST_LISTED)} belongs to Commonhold's own state",
        "next: do not write there; `commonhold status` and `commonhold log` show its content",
    )


def foreign(source: str, paths: Sequence[str]) -> str:
    """Return the refusal to move a file here from elsewhere, since its content is unknown here."""
    return told(
        f"Commonhold refused this write: {source}, which would be moved to {listed(paths, _MOST_LISTED)}, is "
        "not in this working tree, so its content is unknown here",
        "next: write it here as a new file, then delete the other",
    )


def too_large(why: str) -> str:
    """Return the refusal of a file that is too large to be judged before it is written."""
    return told(f"Commonhold refused this write: {why}", f"next: {BY_COMMAND}")


def unsaid(why: str) -> str:
    """Return the refusal of a call that does not specify its write."""
    return told(
        f"Commonhold refused this write: {why}",
        "next: call the tool again with every argument that it needs",
    )


def taken(answer: RecordAnswer) -> str:
    """Return the report on a tool's write that could not have been admitted; empty for an admitted write."""
    if answer.outcome != "unadmitted":
        return ""
    return told(
        f"Commonhold recorded this write, but would have refused it ({answer.code}): {answer.why}",
        "nothing was reverted; the previous content is kept",
        f"next: fix it now; a person sees it with `commonhold review show {answer.review}`",
    )


def briefing(found: Briefing, now: float) -> str:
    """Return a few lines about the work of others; empty if there is nothing to say."""
    at_work = [each for each in found.others if not each.is_at_rest]
    lines = [
        *map(_presence, at_work[:_MOST_LISTED]),
        *map(_lease, found.leases[:_MOST_LISTED]),
        *(_change(each, now) for each in found.changes[:_MOST_LISTED]),
        *(
            f"left half done by {short_name(each.holder)}: {quoted(each.task)} (commonhold review)"
            for each in found.works[:3]
        ),
        *(f"owed by you: {debt.key}, since {debt.why}" for debt in found.debts[:_MOST_LISTED]),
        *([_MEND] if found.debts else []),
    ]
    if not lines:
        return ""
    head = "Commonhold: others work in this repository, too. It checks your edits against theirs. At the moment:"
    return told(head, *lines)


def task_offered(task: Task) -> str:
    """Return the offer of a task to a session that has none."""
    return told(
        f"Commonhold: your turn has ended, and the task {task.id} is free: {quoted(task.title)}",
        f"next: commonhold task claim {task.id}, or end your turn again: it is offered once",
    )


def _presence(presence: Presence) -> str:
    what = f" is at work on {quoted(presence.intent)}" if presence.intent else " is at work"
    return f"- {short_name(presence.holder)}{what}"


def _lease(lease: Lease) -> str:
    return f"- {short_name(lease.holder)} holds {listed(lease.keys, _MOST_LISTED)}{_for(lease.task)}"


def _change(change: Change, now: float) -> str:
    files = list(dict.fromkeys(canonical(key).file_path for key in change.keys))
    ago = f"{duration(now - change.at)} ago"
    return f"- {short_name(change.holder)} changed {listed(files, _MOST_LISTED)} {ago}{_for(change.intent)}"


@dataclass(slots=True)
class _Obstacle:
    """The keys of one holder that are in the way: held, or waited for further ahead in line.

    `ends_at` is the last end.
    """

    held: dict[str, None]
    task: str
    ends_at: float
    is_waiting: bool


def _in_the_way(conflicts: Sequence[Conflict], now: float) -> Iterator[str]:
    """Yield a line for each holder: all its keys that are in the way, and for how long it holds them at most."""
    found: dict[str, _Obstacle] = {}
    for each in conflicts:
        new = _Obstacle({}, each.task, each.expires_at, each.is_waiting)
        obstacle = found.setdefault(each.holder, new)
        obstacle.held[each.held] = None
        obstacle.is_waiting &= each.is_waiting
        if each.expires_at > obstacle.ends_at:
            obstacle.task, obstacle.ends_at = each.task, each.expires_at
    for holder, obstacle in list(found.items())[:_MOST_LISTED]:
        yield f"- {short_name(holder)} {_has(obstacle)}{_for(obstacle.task)}{_still(obstacle, now)}"


def _has(obstacle: _Obstacle) -> str:
    written = [path for key in obstacle.held if (path := path_of_slot(key))]
    keys = [key for key in obstacle.held if path_of_slot(key) is None]
    if not keys:
        return f"just writes {listed(written, _MOST_LISTED)}"
    return f"{'is before you in line for' if obstacle.is_waiting else 'holds'} {listed(keys, _MOST_LISTED)}"


def _still(obstacle: _Obstacle, now: float) -> str:
    is_moment = all(path_of_slot(key) for key in obstacle.held)
    return "" if is_moment or obstacle.is_waiting else f", for at most {duration(obstacle.ends_at - now)} more"


def _needed(needed: RequiredEdit) -> str:
    return f"- {needed.key} ({needed.where}): {needed.why}"


def _region(region: RepairRegion, code: Refusal) -> Iterator[str]:
    by = f", changed by {called(region.changed_by)}{_for(region.intent or '')}" if region.changed_by else ""
    if region.hash is None:
        if by or code is Refusal.REGION_CHANGED:  # otherwise it never existed: the edit would create it
            yield f"--- {region.key} no longer exists{by}"
        return
    yield f"--- {region.key} as it is now{by}:"
    if region.text is not None and _is_short(region):
        yield region.text.rstrip("\n")
    else:
        yield "(too long to be shown here)"
    if region.diff and len(region.diff) <= MOST_SHOWN:
        yield "--- what changed since you read it:"
        yield region.diff.rstrip("\n")


def _for(intent: str) -> str:
    return f" for {quoted(intent)}" if intent else ""
