"""Requests of agents about leases. They are frozen, so that a repeated request is recognised."""

from dataclasses import dataclass, field
from typing import Final

from commonhold.kernel import texts
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.keys import FILE, parse
from commonhold.kernel.lease import DEFAULT_TTL_SECONDS, MAX_SLOTS, check_ttl
from commonhold.kernel.modes import Mode

MAX_KEYS: Final = 1000
_MODES: Final = tuple(Mode)


@dataclass(frozen=True, slots=True)
class AcquireRequest:
    """A request for one lease on all of `keys`, in any form.

    With `patience_seconds` it takes a place in line if the keys are not free, and keeps it for that long; another
    request with the `ticket` of the answer extends it. `replaces` is a lease that ends with the grant. With `slots` it
    is for one of that many slots of its only key (0: for all of it). With `once` it is for work that is done once for
    all.
    """

    holder: str
    keys: tuple[str, ...]
    task: str = ""
    mode: Mode = Mode.EXCLUSIVE
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    acquisition_id: str | None = None
    request_id: str | None = None
    patience_seconds: float | None = None
    ticket: str | None = field(default=None, repr=False)  # the request is the same, whatever its ticket
    replaces: str | None = None
    slots: int = 0
    once: bool = False


@dataclass(frozen=True, slots=True)
class RenewRequest:
    """A request that the lease end `ttl_seconds` from now."""

    holder: str
    lease_id: str
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """A request to give up a lease or a place in line; `result` is that of work which is done once."""

    holder: str
    lease_id: str
    request_id: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True)
class BreakRequest:
    """A request to end a lease at once, regardless of its holder."""

    holder: str
    lease_id: str
    reason: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A request that another holder release a lease."""

    holder: str
    lease_id: str
    why: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class HandOverRequest:
    """A request to hand a lease over to another holder."""

    holder: str
    lease_id: str
    to: str
    request_id: str | None = None


def check(request: AcquireRequest) -> None:
    """Check all that needs no state. Raises UsageError and InputError."""
    texts.check_line(request.task, "task")
    for name in ("acquisition_id", "ticket", "replaces"):
        if given := getattr(request, name):
            texts.check_line(given, name, texts.MAX_ID_LENGTH)
    check_ttl(request.ttl_seconds)
    if request.mode not in _MODES:
        raise UsageError(Code.USAGE, f"there is no mode {request.mode!r}", hint=f"the modes are {', '.join(Mode)}")
    if request.patience_seconds is not None:
        check_ttl(request.patience_seconds)
    if not 0 < len(request.keys) <= MAX_KEYS:
        raise UsageError(
            Code.USAGE,
            f"{len(request.keys)} keys were named; a lease is on 1 to {MAX_KEYS}",
            hint="name what you want to change; lease a folder or a file to cover many regions at once",
        )
    if request.slots or request.once:
        _check_counted(request)


def _check_counted(request: AcquireRequest) -> None:
    """Check a request for a slot, or for work that is done once."""
    what = "work that is done once" if request.once else "a slot"
    if request.slots and request.once:
        why, hint = "slots and once exclude each other", "once is for one holder at a time: leave the slots out"
    elif not 0 <= request.slots <= MAX_SLOTS:
        why, hint = f"a key cannot have {request.slots} slots", f"give a number from 1 to {MAX_SLOTS}"
    elif len(request.keys) > 1 or parse(request.keys[0]).scheme == FILE:
        why = f"{what} belongs to one key that is not a file"
        hint = "name one key such as gpu:box or migration:42, and lease files by a request of their own"
    elif request.mode is not Mode.EXCLUSIVE or request.replaces:
        why, hint = f"{what} is always exclusive and replaces no lease", "leave mode and replace out"
    else:
        return
    raise UsageError(Code.USAGE, why, hint=hint)


def check_reason(text: str, what: str) -> str:
    """Check the stated reason for an action on another holder's lease. Raises UsageError if it is blank."""
    if not text.strip():
        raise UsageError(
            Code.USAGE, f"no {what} was given", hint=f"say in one line why: the {what} is kept, and shown to the holder"
        )
    return texts.check_line(text, what)
