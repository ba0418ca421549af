"""Answers about tasks, in words."""

from collections.abc import Iterator
from typing import Final

from commonhold.cli import describe
from commonhold.cli.common_options import Given
from commonhold.cli.describe import quoted, when, who
from commonhold.cli.explanations import EXPLANATIONS
from commonhold.cli.next_call import next_lines
from commonhold.cli.output import shown
from commonhold.kernel.task import Move, TaskState
from commonhold.kernel.texts import duration
from commonhold.runs.answers import RunAnswer
from commonhold.tasks.agents import Agent, AgentState
from commonhold.tasks.answers import TaskAnswer, TaskView
from commonhold.tasks.board import Collision, Condition

_MOST_WAITING: Final = 10
_MOST_BARRED: Final = 3
_ENDED: Final = {
    Move.HAND_OVER: "handed over",
    Move.RETURN: "returned",
    Move.GIVE_BACK: "given back",
    Move.EXHAUST: "failed for good",
    Move.FINISH: "finished",
    Move.LAND: "landed",
    Move.REFUSE: "refused",
    Move.UNDO: "undone",
    Move.CANCEL: "cancelled",
}


def listed(found: TaskAnswer) -> Iterator[str]:
    """Yield the tasks, a line each."""
    if not found.tasks:
        yield "no open tasks: `commonhold task add TITLE` makes one, `commonhold task list --all` shows all"
    width = max((len(each.record.id) for each in found.tasks), default=0)
    for each in found.tasks:
        name = f"{shown(each.record.id):{width}}"
        yield f"  {name}  {each.condition.value:9}  {shown(each.record.task.title)}{_more(each)}"

    if found.agents:
        yield "agents:"
    yield from map(_agent, found.agents)


def _agent(agent: Agent) -> str:
    tasks = ", ".join(map(shown, agent.tasks))
    doing = {
        AgentState.BUSY: f"busy with {tasks}",
        AgentState.GONE: f"gone; it did not finish {tasks}",
        AgentState.IDLE: f"idle; `commonhold task claim` gives it {shown(agent.best)}" if agent.best else "idle",
    }
    can = f"; has {', '.join(map(shown, agent.can))}" if agent.can else ""
    barred = [f"; {shown(each.task_id)} is not for it: {shown(each.why)}" for each in agent.barred[:_MOST_BARRED]]
    return f"  {who(agent.holder)}  {doing[agent.state]}{can}{''.join(barred)}"


def _more(view: TaskView) -> str:
    why = view.why
    if view.condition is Condition.STRANDED:
        commit = view.record.result.commit[:12] if view.record.result else ""
        why = f"{why}; {commit} has been waiting for {shown(view.record.task.target)} for {duration(view.age_seconds)}"
    late = "late" if view.is_late else ""
    told = "; ".join(filter(None, (late, "" if view.condition is Condition.LANDED else why)))
    return f"  ({shown(told)})" if told else ""


def answer(found: TaskAnswer, given: Given) -> Iterator[str]:
    """Yield the answer to a call that adds, claims or changes tasks."""
    match found.outcome:
        case "refused":
            yield from refused(found)
        case "none":
            yield f"no task [{found.code}]: {shown(found.why)}"
            yield from _waiting(found)
        case "claimed":
            yield from _claimed(found)
        case "added":
            for each in found.tasks:
                verb = "proposed" if each.condition is Condition.PROPOSED else "added"
                yield f"{verb} {shown(each.record.id)}: {shown(each.record.task.title)}"
            yield from (f"unchanged {shown(each)}" for each in found.unchanged)
        case _:
            for each in found.tasks:
                note = quoted(each.record.note)
                yield f"{shown(each.record.id)} is {each.condition.value}{note}{_more(each)}"
    yield from next_lines(found.next, given)


def refused(found: TaskAnswer | RunAnswer) -> Iterator[str]:
    """Yield a refusal, with the remedy for its code unless the answer has a call to make."""
    yield f"refused [{found.code}]: {shown(found.why)}"
    if found.code and not found.next:
        yield f"hint: {EXPLANATIONS[found.code].remedy}"


def _claimed(found: TaskAnswer) -> Iterator[str]:
    (view,) = found.tasks
    record, task = view.record, view.record.task
    yield f"claimed {shown(task.id)}: {shown(task.title)} (attempt {record.attempt}, fence {record.fence})"
    if task.intent:
        yield f"  intent: {shown(task.intent)}"
    yield from (f"  key: {describe.key_of(key)}" for key in task.keys)
    yield from (f"  predicted key: {describe.key_of(key)}" for key in task.predicted_keys)
    yield from (f"  check: {shown(check)}" for check in task.checks)
    if found.lease is not None:
        until = when(found.lease.deadline.wall)
        yield f"  the claim ends {until}; every call of this session keeps it, or: commonhold renew {found.lease.id}"
    yield from map(_collision, found.collisions)
    if found.others:
        yield f"  this session name has also claimed {', '.join(map(shown, found.others))}"
    yield from _traces(found, view)


def details(found: TaskAnswer) -> Iterator[str]:
    """Yield one task with everything that is known about it."""
    for view in found.tasks:
        record, task = view.record, view.record.task
        yield f"{shown(task.id)}: {shown(task.title)}"
        yield f"  {view.condition.value} for {duration(view.age_seconds)}{_more(view)}"
        facts: dict[str, str] = {
            "intent": task.intent,
            "keys": ", ".join(task.keys),
            "predicted keys": ", ".join(task.predicted_keys),
            "needs": ", ".join(task.needs),
            "priority": str(task.priority) if task.priority else "",
            "deadline": when(task.deadline_at) if task.deadline_at is not None else "",
            "estimate": duration(task.estimate_seconds) if task.estimate_seconds else "",
            "labels": ", ".join(task.labels),
            "for": ", ".join(task.takers),
            "requires": ", ".join(task.requires),
            "target": task.target,
            "checks": "; ".join(task.checks),
            "fence": f"{record.fence}, of {who(record.holder)}" if record.state is TaskState.CLAIMED else "",
            "commit": record.result.commit if record.result else "",
            "note": record.note,
        }
        yield from (f"  {name}: {shown(fact)}" for name, fact in facts.items() if fact)
        added = f"added by {who(record.added_by)} {when(record.added_at)}"
        yield f"  attempts: {record.tries} of {task.most_attempts}; {added}"
        yield from _traces(found, view)


def _traces(found: TaskAnswer, view: TaskView) -> Iterator[str]:
    """Yield the attempts that have ended, with their partial work."""
    for each in view.record.attempts:
        if each.ended_at is not None:
            end = _ENDED[each.end] if each.end else "ended"
            yield f"  attempt {each.number} by {who(each.holder)}: {end} {when(each.ended_at)}{quoted(each.note)}"
    for work in found.works:
        yield from (f"  partial work: {line}" for line in describe.work(work))
    for change in found.changes:
        first, *keys = describe.change(change)
        yield f"  committed as event {first}"
        yield from (f"  {key}" for key in keys)


def _collision(found: Collision) -> str:
    of = f"task {shown(found.task_id)}" if found.task_id else "a lease"
    key = describe.key_of(found.key)
    return (
        f"  collides: {key} is in use by {who(found.holder)}, {of} until {when(found.expires_at)}{quoted(found.doing)}"
    )


def _waiting(found: TaskAnswer) -> Iterator[str]:
    for each in found.waiting[:_MOST_WAITING]:
        yield f"  {shown(each.task_id)}: {shown(each.why)}"
    if len(found.waiting) > _MOST_WAITING:
        yield f"  and {len(found.waiting) - _MOST_WAITING} more"
    yield from map(_collision, found.collisions)
