"""Answers about runs, in words."""

import shlex
from collections import Counter
from collections.abc import Iterator

from commonhold.api.wire.run_shapes import total_usage
from commonhold.cli import describe
from commonhold.cli.common_options import Given
from commonhold.cli.describe import quoted, stamp, used
from commonhold.cli.next_call import next_lines
from commonhold.cli.output import shown
from commonhold.cli.task_words import refused
from commonhold.kernel.run import (
    ItemMoved,
    ItemState,
    ItemStep,
    Locking,
    RunMove,
    RunMoved,
    RunPlanned,
    RunStarted,
    RunState,
    TokenUsage,
)
from commonhold.runs.answers import ItemView, RunAnswer, RunView

ANY_ROLES = "--editor COMMAND"
"""The options of a run to resume whose editor is not known."""
_PAST = {
    ItemStep.TAKE: "taken",
    ItemStep.PROPOSE: "proposed",
    ItemStep.REFUSE: "refused",
    ItemStep.REPLAN: "planned anew",
    ItemStep.WRITE: "written",
    ItemStep.ACCEPT: "accepted",
    ItemStep.REJECT: "rejected",
    ItemStep.GIVE_BACK: "given back",
    ItemStep.FAIL: "failed",
    ItemStep.EXHAUST: "failed for good",
    ItemStep.LAND: "landed",
    ItemStep.CANCEL: "cancelled",
    ItemStep.REOPEN: "reopened",
    ItemStep.RECOMMIT: "reopened with its candidate",
    ItemStep.REVALIDATE: "reopened with its change",
}
_MOVED = {
    RunMove.RESUME: "resumed",
    RunMove.STOP: "stopped",
    RunMove.COMPLETE: "completed",
    RunMove.FAIL: "failed",
    RunMove.CANCEL: "cancelled",
}
_LOCKED = {Locking.OPTIMISTIC: "optimistic on", Locking.LEASED: "to lease", Locking.SERIAL: "alone on"}
"""How an item is kept from others, before its keys: a plan, which says nothing of leases that are held."""


def listed(found: RunAnswer, *, is_all: bool) -> Iterator[str]:
    """Yield the runs, a line each; `is_all`: those that have ended are among them."""
    if not found.runs:
        none = (
            "no run has been started here"
            if is_all
            else "no run is open: `commonhold run list --all` shows those that have ended"
        )
        yield f"{none}; `commonhold run PLAN` begins one"
    width = max((len(each.run.id) for each in found.runs), default=0)
    for each in found.runs:
        run = each.run
        goal = shown(run.run.goal) or "(no goal)"
        yield f"  {shown(run.id):{width}}  {_state(each):12} {goal}  since {stamp(run.since)}"


def _state(view: RunView) -> str:
    is_left = view.run.state is RunState.RUNNING and not view.is_coordinated
    return "interrupted" if is_left else view.run.state.value


def answer(found: RunAnswer, given: Given, roles: str = ANY_ROLES) -> Iterator[str]:
    """Yield the answer to a call that begins, resumes or ends runs; `roles` are the options of the next step."""
    if found.code is not None:
        yield from refused(found)
    for each in found.runs:
        yield from details(each, roles)
    yield from next_lines(found.next, given)


def ended(found: RunAnswer, given: Given, roles: str) -> Iterator[str]:
    """Yield how a run has ended that was carried out here, and where its changes are."""
    yield from answer(found, given, roles)
    is_written = any(each.item.admitted for view in found.runs for each in view.items)
    if is_written and found.runs[0].run.state is RunState.COMPLETED:
        yield "its changes are in the working tree; they are not committed to git"
        yield "next: git status"


def waiting(view: RunView) -> str:
    """Return why no item of a run is worked on now; an empty text if one is, or none is left."""
    if any(each.item.is_in_progress and not each.why for each in view.items):
        return ""
    left = [each for each in view.items if each.item.is_in_progress or each.item.state is ItemState.OPEN]
    reasons = [f"{each.item.task_id}: {each.why or 'its keys are in use'}" for each in left]
    return shown(f"waiting: {'; '.join(reasons)}") if reasons else ""


def details(view: RunView, roles: str = ANY_ROLES) -> Iterator[str]:
    """Yield a run and its items."""
    run = view.run
    yield f"{shown(run.id)} is {_state(view)}{quoted(run.run.goal)}{f' ({shown(run.note)})' if run.note else ''}"
    counts = Counter(each.item.state.value for each in view.items)
    if counts:
        yield f"  items: {', '.join(f'{count} {name}' for name, count in counts.items())}"
    width = max((len(each.item.task_id) for each in view.items), default=0)
    for each in view.items:
        title = shown(each.task.task.title)
        yield f"  {shown(each.item.task_id):{width}}  {each.item.state.value:9}  {title}{_more(each)}"
    spent = total_usage(view)
    if spent != TokenUsage():
        yield f"  used: {used(spent)}"
    if run.state in (RunState.STOPPED, RunState.FAILED) or _state(view) == "interrupted":
        yield f"next: {_resumption(view, roles)}"


def _resumption(view: RunView, roles: str) -> str:
    """Return the calls that go on with a run: tasks at their last attempt must be opened again first."""
    failed = [shlex.quote(each.item.task_id) for each in view.items if each.item.state is ItemState.FAILED]
    reopened = [f"commonhold task reopen {each} --note WHY" for each in failed]
    return "; ".join([*reopened, f"commonhold run --resume {shlex.quote(view.run.id)} {roles}"])


def _more(view: ItemView) -> str:
    item = view.item
    facts = []
    if item.round > 1:
        facts.append(f"round {item.round}")
    if item.state is ItemState.OPEN:
        facts.append(item.failure or view.why)
    elif item.state in (ItemState.FAILED, ItemState.CANCELLED):
        facts.append(item.note)
    elif item.is_in_progress and view.why:
        facts.append(view.why)
    elif item.is_in_progress and item.locks and item.locks.why:
        facts.append(f"{_LOCKED[item.locks.locking]} its keys: {item.locks.why}")
        if item.refusals and item.outcome:
            facts.append(item.outcome.why)
    if item.usage != TokenUsage():
        facts.append(used(item.usage))
    words = "; ".join(shown(each) for each in facts if each)
    return f"  ({words})" if words else ""


def started(event: RunStarted) -> str:
    """Tell of the beginning of a run."""
    return f"{shown(event.run.id)}{quoted(event.run.goal)}"


def planned(event: RunPlanned) -> str:
    """Tell of new items."""
    return f"{shown(event.run_id)}: items: {len(event.tasks)}"


def run_moved(event: RunMoved) -> str:
    """Tell of a transition of a run."""
    return f"{shown(event.run_id)} {_MOVED[event.move]}{quoted(event.note)}"


def item_moved(event: ItemMoved) -> str:
    """Tell of a step of an item."""
    more = ""
    if event.outcome is not None and event.outcome.code:
        more = f" [{shown(event.outcome.code)}]{quoted(event.outcome.why)}"
    elif event.step in (ItemStep.TAKE, ItemStep.REPLAN, ItemStep.GIVE_BACK) and event.locks is not None:
        keys = " ".join(map(describe.key_of, event.locks.keys)) or "no keys"
        more = f", {_LOCKED[event.locks.locking]} {keys}{quoted(event.locks.why)}"
    elif event.outcome is not None and event.outcome.admitted:
        events = ", ".join(map(str, event.outcome.admitted))
        more = f" as {'event' if len(event.outcome.admitted) == 1 else 'events'} {events}"
    elif event.note:
        more = quoted(event.note)
    return f"{shown(event.run_id)}.{shown(event.task_id)} {_PAST[event.step]} (round {event.round}){more}"
