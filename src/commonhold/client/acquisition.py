"""Acquire leases with patience: wait for a turn, and leave no place in line behind."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, TypeVar, Unpack

from commonhold.api import terms
from commonhold.client.effects import Call, ReadClock, Sleep, Steps
from commonhold.kernel.arguments import check_arguments
from commonhold.kernel.errors import CommonholdError, StoreError
from commonhold.kernel.modes import Mode
from commonhold.kernel.refusals import Refusal
from commonhold.machine.system import RandomIds

T = TypeVar("T")
SHORTEST_PAUSE_SECONDS: Final = 0.01
LONGEST_PAUSE_SECONDS: Final = 0.25
WAITER_PATIENCE_SECONDS: Final = 15.0
"""How long the place in line of a session that waits here outlives the wait."""


def acquire(
    *keys: str,
    task: str = "",
    ttl_seconds: float | None = None,
    mode: Mode = Mode.EXCLUSIVE,
    wait_seconds: float = 0.0,
    **more: Unpack[terms.AcquireOptions],
) -> Steps[terms.AcquireAnswer]:
    """Ask for one lease on all of `keys`: granted as a whole, or denied with every conflict named.

    With `wait_seconds` the call waits in line for up to that time; after a wait, `changed` in the answer names the keys
    that others changed meanwhile. With `patience_seconds` the answer is a place in line; ask again with its `ticket`
    within that time to keep it.

    A lease keeps others from changing the keys that it covers; it ends by release, or `ttl_seconds` after the last sign
    of life of its holder (any call). It cannot keep this process from relying on a lease that it has lost: the commit
    checks.
    """
    given = {name: value for name, value in more.items() if value is not None}
    named: dict[str, Any] = {"task": task, "ttl_seconds": ttl_seconds, "mode": mode, **given}
    # The ticket identifies a call that is repeated because its answer was lost.
    named.setdefault("ticket", RandomIds().new("lease"))
    if wait_seconds > 0:
        named.setdefault("patience_seconds", WAITER_PATIENCE_SECONDS)
        waiting = _wait(keys, named, wait_seconds)
        return (yield from or_let_go(named["ticket"], waiting, unless=StoreError))
    asking = _ask(keys, named)
    if "ticket" in given:  # the caller knows the ticket: it can ask again with it, or release it
        return (yield from asking)
    return (yield from or_let_go(named["ticket"], asking, unless=CommonholdError))


def or_let_go(ticket: str, steps: Steps[T], *, unless: type[Exception] | None = None) -> Steps[T]:
    """Run `steps`. If anything stops them, Ctrl-C too, release the ticket: no place in line and no unknown lease stays.

    `unless` are errors after which there is nothing to release, or no service to ask.
    """
    try:
        return (yield from steps)
    except BaseException as fault:  # any exception, Ctrl-C included
        if not isinstance(fault, (GeneratorExit, unless or GeneratorExit)):
            with suppress(CommonholdError):
                yield Call("release", (ticket,))
        raise


def _ask(keys: tuple[str, ...], named: dict[str, Any]) -> Steps[terms.AcquireAnswer]:
    answer: terms.AcquireAnswer = yield Call("acquire", keys, named)
    return answer


def _wait(keys: tuple[str, ...], named: dict[str, Any], wait_seconds: float) -> Steps[terms.AcquireAnswer]:
    check_arguments(wait_seconds)
    until: float = (yield ReadClock()) + wait_seconds
    remaining, pause = wait_seconds, SHORTEST_PAUSE_SECONDS
    while True:
        answer: terms.AcquireAnswer = yield Call("acquire", keys, {**named, "hold_seconds": remaining})
        remaining = until - (yield ReadClock())
        if answer.outcome != "queued" or remaining <= 0:
            break
        pause = min(pause, remaining)
        yield Sleep(pause)
        remaining -= pause
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    if answer.outcome != "queued":
        return answer
    yield Call("release", (named["ticket"],))
    return _given_up(answer, wait_seconds)


def _given_up(answer: terms.AcquireAnswer, waited_seconds: float) -> terms.AcquireAnswer:
    """Return the denial for a caller that stopped waiting."""
    # Loaded here: a caller that does not wait needs to make no answers.
    from commonhold.kernel.answers import AcquireAnswer, Next  # noqa: PLC0415

    asked = answer.next.arguments if answer.next else {}
    arguments = {name: value for name, value in asked.items() if name in ("keys", "task", "mode")}
    why = f"it was not free within {waited_seconds:g} seconds: do other work first, then ask again"
    step = Next("acquire", {**arguments, "wait_seconds": waited_seconds}, why)
    return AcquireAnswer("denied", conflicts=answer.conflicts, code=Refusal.LOCK_CONFLICT, next=step)
