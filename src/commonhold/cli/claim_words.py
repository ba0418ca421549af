"""The answers of `commonhold claim`, in words."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from commonhold.api.wire.text import sound
from commonhold.cli.describe import stamp
from commonhold.cli.output import shown
from commonhold.kernel.texts import duration
from commonhold.tasks.claiming import Changed, Claimed, Lost, NothingToClaim
from commonhold.tasks.claims import Standing, State
from commonhold.tasks.claims_ref import LoggedClaim

_MOST_TOLD: Final = 10
_ENDED: Final = {"release": "gave back", "done": "completed"}


def claimed(found: Claimed | NothingToClaim, words: Sequence[str]) -> Iterator[str]:
    """Yield the task and the next step, or why there is none."""
    if isinstance(found, NothingToClaim):
        yield from _nothing(found, words)
        return
    name, lock = found.lock.task, found.lock
    title = f": {shown(found.standing.task.title)}" if found.standing.task.title else ""
    verb = "claimed" if found.is_new else "you have already claimed"
    yield f"{verb} {name}{title} (fence {lock.fence})"
    if found.is_new and found.standing.lock is not None:
        silent = duration(found.standing.unchanged_seconds)
        yield f"taken over from {shown(found.was) or 'an unnamed agent'}, whose lock had not changed for {silent}"
    yield f"keep it: run this at least every {duration(lock.ttl_seconds)}: {_call('beat', name, words)}"
    yield f"next: do the work and push it, then {_call('done', name, words)}"


def _nothing(found: NothingToClaim, words: Sequence[str]) -> Iterator[str]:
    left = [each for each in found.standings if each.state is not State.DONE]
    if not left:
        yield "nothing to claim: every task is done" if found.standings else "nothing to claim: there is no task"
        yield "next: push a file tasks/pending/NAME.yml with a line `title: ...` to make one"
        return
    yield "nothing to claim: no task is free"
    yield from _table(left[:_MOST_TOLD])
    if len(left) > _MOST_TOLD:
        yield f"  and {len(left) - _MOST_TOLD} more"
    if any(each.state is State.HELD for each in left):
        yield f"next: claim again when one of them is done or given back: {shlex.join(['commonhold', 'claim', *words])}"
    else:
        yield "next: fix the needs or the file of one of these tasks"


def standings(found: Sequence[Standing]) -> Iterator[str]:
    """Yield all tasks, a line each."""
    if not found:
        yield "no tasks: push a file tasks/pending/NAME.yml with a line `title: ...` to make one"
    yield from _table(found)


def _table(found: Sequence[Standing]) -> Iterator[str]:
    width = max((len(each.task.name) for each in found), default=0)
    for each in found:
        silent = f", no sign of life for {duration(each.unchanged_seconds)}" if each.state is State.STALE else ""
        parts = (shown(each.task.title), shown(each.why) + silent)
        yield f"  {each.task.name:{width}}  {each.state.value:7}  {'; '.join(filter(None, parts))}".rstrip()


def changed(found: Changed | Lost, words: Sequence[str]) -> Iterator[str]:
    """Yield the new state of the claim."""
    if isinstance(found, Lost):
        if found.now is None:
            yield f"you have no claim on {found.task}, nor has any other agent"
        else:
            yield f"you have no claim on {found.task}: {shown(found.now.agent) or 'an unnamed agent'} has"
        yield f"next: do not push work for it; claim a task: {shlex.join(['commonhold', 'claim', *words])}"
    elif found.action == "beat":
        yield f"kept {found.lock.task} for another {duration(found.lock.ttl_seconds)}"
    else:
        yield f"{_ENDED[found.action]} {found.lock.task}"


def log(found: Sequence[LoggedClaim]) -> Iterator[str]:
    """Yield the commits, a line for each task."""
    if not found:
        yield "no claims yet"
    for each in found:
        for name, did in each.did.items():
            yield f"{stamp(each.wall)}  {did:8}  {name}  by {shown(each.agent)}  {each.commit[:12]}"


def log_shape(found: Sequence[LoggedClaim]) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "commits": [
            {
                "commit": each.commit,
                "time": each.wall,
                "agent": sound(each.agent),
                "subject": sound(each.subject),
                "did": dict(each.did),
            }
            for each in found
        ]
    }


def _call(name: str, task: str, words: Sequence[str]) -> str:
    return shlex.join(["commonhold", "claim", name, task, *words])
