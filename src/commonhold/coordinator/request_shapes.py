"""The JSON of requests to commands that play a role, and of their answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from commonhold.api.wire.changesets import changeset as changeset_of
from commonhold.coordinator.roles import Edited, ItemRequest, Planned, Replanned, RoleFailed, Verdict
from commonhold.kernel.errors import InputError
from commonhold.kernel.run import Locking, LockPlan, Role, RoleMessage, TokenUsage
from commonhold.machine.decoding import from_plain
from commonhold.tasks.plans import read_plan

_EMPTY: Final = LockPlan()
MOST_REASON: Final = 1_800


@dataclass(frozen=True, slots=True)
class _Common:
    """The parts that every answer may have."""

    usage: TokenUsage | None
    messages: tuple[RoleMessage, ...]


def planner_request(goal: str, root: str) -> bytes:
    """Return the request to a planner."""
    return _bytes({"role": Role.PLANNER.value, "goal": goal, "root": root})


def item_request(role: Role, request: ItemRequest) -> bytes:
    """Return the request to a role about a work item; docs/runs.md shows its fields."""
    run, task, item = request.run, request.task, request.item
    outcome = item.outcome if item.refusals else None
    locks = item.locks or _EMPTY
    return _bytes(
        {
            "role": role.value,
            "run": run.id,
            "goal": run.goal,
            "root": request.root,
            "session": item.session,
            "round": item.round,
            "task": {"id": task.id, "title": task.title, "keys": list(task.keys), "checks": list(task.checks)},
            "intent": item.intent,
            "locks": {"locking": locks.locking.value, "keys": list(locks.keys), "why": locks.why},
            "leases": [{"id": each.id, "fence": each.fence} for each in request.leases],
            "regions": [{"key": each.key, "hash": each.hash, "text": each.text} for each in request.regions],
            "absent": list(request.absent),
            "refusal": None
            if outcome is None or not outcome.code
            else {
                "code": outcome.code,
                "why": outcome.why,
                "keys": list(outcome.keys),
                "answer": json.loads(outcome.repair) if outcome.repair else None,
            },
            "refusals": item.refusals,
            "failure": item.failure,
            "candidate": json.loads(item.candidate.changeset) if item.candidate else None,
            "admitted": list(item.admitted),
            "checks": [*task.checks, *run.checks],
            "messages": [{"by": each.by.value, "text": each.text} for each in request.messages(role)],
        }
    )


def planned(printed: bytes, wall: float) -> Planned | RoleFailed:
    """Read a planner's answer: a plan, as JSON or YAML, which may have a `usage` beside its tasks."""
    shape = _object(printed)
    usage = _usage(shape) if isinstance(shape, dict) else None
    if isinstance(shape, dict):
        shape.pop("usage", None)
        printed = _bytes(shape)
    try:
        return Planned(read_plan(printed, wall), usage)
    except InputError as fault:
        return RoleFailed(f"it printed no plan: {fault.message}", usage)


def edited(printed: bytes, request: ItemRequest) -> Edited | RoleFailed:
    """Read an editor's answer: `changeset`, or `unchanged` with the reason, or `fail` with the reason.

    An edit without a base is based on the text of the request.
    """
    answer = _answer(printed, Role.EDITOR)
    if isinstance(answer, RoleFailed):
        return answer
    shape, common = answer
    if reason := _text(shape, "unchanged"):
        return Edited(None, reason, common.usage, common.messages)
    if "changeset" not in shape:
        why = _text(shape, "fail") or "it printed neither `changeset` nor `unchanged` nor `fail`"
        return RoleFailed(why, common.usage)
    try:
        found = changeset_of(shape["changeset"])
    except InputError as fault:
        return RoleFailed(fault.message, common.usage)
    hashes = {each.key: each.hash for each in request.regions}
    names = {**hashes, **{key.removeprefix("file:"): value for key, value in hashes.items()}}
    edits = tuple(each if each.base is not None else replace(each, base=names.get(each.key)) for each in found.edits)
    return Edited(replace(found, edits=edits), _text(shape, "note"), common.usage, common.messages)


def replanned(printed: bytes) -> Replanned | RoleFailed:
    """Read a recovery coordinator's answer: `locks`, or `give_up` with the reason."""
    answer = _answer(printed, Role.RECOVERY)
    if isinstance(answer, RoleFailed):
        return answer
    shape, common = answer
    if reason := _text(shape, "give_up"):
        return Replanned(None, reason, common.usage, common.messages)
    locks = _locks(shape)
    if isinstance(locks, RoleFailed):
        return locks
    if locks is None:
        return RoleFailed("it printed neither `locks` nor `give_up`", common.usage)
    return Replanned(locks, locks.why, common.usage, common.messages)


def verdict(printed: bytes) -> Verdict | RoleFailed:
    """Read a validator's answer: `passed`, and `why` if it is false."""
    answer = _answer(printed, Role.VALIDATOR)
    if isinstance(answer, RoleFailed):
        return answer
    shape, common = answer
    passed = shape.get("passed")
    if not isinstance(passed, bool):
        return RoleFailed("it did not print `passed` as true or false", common.usage)
    locks = _locks(shape)
    if isinstance(locks, RoleFailed):
        return locks
    return Verdict(passed, _text(shape, "why") or ("" if passed else "no reason"), common.usage, common.messages, locks)


def _object(printed: bytes) -> dict[str, Any] | RoleFailed:
    try:
        shape = json.loads(printed)
    except (ValueError, RecursionError) as fault:
        return RoleFailed(f"it did not print JSON: {str(fault)[:200]}")
    return shape if isinstance(shape, dict) else RoleFailed("it printed JSON that is no object")


def _answer(printed: bytes, by: Role) -> tuple[dict[str, Any], _Common] | RoleFailed:
    shape = _object(printed)
    if isinstance(shape, RoleFailed):
        return shape
    raw = shape.get("messages") or []
    try:
        messages = tuple(RoleMessage(Role(each["to"]), one_line(each["text"]), by) for each in raw)
    except (TypeError, KeyError, ValueError):
        roles = ", ".join(Role)
        return RoleFailed(f"its messages are no list of objects with `to` (one of {roles}) and `text`")
    return shape, _Common(_usage(shape), messages)


def _usage(shape: Mapping[str, Any]) -> TokenUsage | None:
    """Return the reported usage; a report that cannot be read is none."""
    try:
        return from_plain(shape["usage"], TokenUsage) if shape.get("usage") else None
    except msgspec.ValidationError:
        return None


def _locks(shape: Mapping[str, Any]) -> LockPlan | RoleFailed | None:
    if not shape.get("locks"):
        return None
    try:
        return from_plain(shape["locks"], LockPlan)
    except msgspec.ValidationError as fault:
        words = ", ".join(Locking)
        return RoleFailed(f"its `locks` cannot be read ({fault}); give `locking` (one of {words}), `keys` and `why`")


def _text(shape: Mapping[str, Any], name: str) -> str:
    return one_line(shape.get(name) or "")


def one_line(text: object) -> str:
    """Return a text of a role as one printable line: the beginning and the end of a long one."""
    line = " ".join("".join(char if char.isprintable() else " " for char in str(text)).split())
    half = MOST_REASON // 2
    return line if len(line) <= MOST_REASON else f"{line[:half]} … {line[-half:]}"


def _bytes(shape: Mapping[str, Any] | Sequence[Any]) -> bytes:
    return json.dumps(shape, ensure_ascii=False).encode("utf-8", "replace")
