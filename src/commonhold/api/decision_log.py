"""Log records of decisions about leases and writes, in one form: the holder, the keys or paths, the outcome, the code.

Refusals, commits and all that ends another's lease are on level info; the many calls that succeed as usual are on level
debug. The event log has all of them; these records tell which request caused them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol

from commonhold.kernel.logs import Log

if TYPE_CHECKING:
    from commonhold.kernel.answers import AcquireAnswer, CommitAnswer, LeaseAnswer, TakeAnswer
    from commonhold.kernel.changeset import Changeset

_log: Final = Log(__name__)
_USUAL: Final = frozenset({"granted", "queued", "renewed", "released", "cancelled", "asked", "nothing"})


class _Decided(Protocol):
    @property
    def outcome(self) -> str: ...

    @property
    def code(self) -> object: ...


def log_acquire(holder: str, keys: Iterable[object], answer: AcquireAnswer) -> None:
    """Record whether a lease on `keys` was granted, and which lease."""
    lease = answer.lease
    of_lease = {} if lease is None else {"lease": lease.id, "fence": lease.fence}
    blockers = {conflict.holder for conflict in answer.conflicts} or None
    _record("lease", answer, holder=holder, keys=keys, **of_lease, blockers=blockers)


def log_lease(holder: str, lease_id: str, answer: LeaseAnswer) -> None:
    """Record the change of a lease, or its refusal."""
    _record("lease", answer, holder=holder, lease=lease_id, keys=answer.lease.keys if answer.lease else None)


def log_commit(verb: str, holder: str, changeset: Changeset, answer: CommitAnswer) -> None:
    """Record the decision on a changeset: `verb` is "commit", "dry run", or "edit" for one that a tool will write."""
    keys = [edit.key for edit in changeset.edits]
    _record(verb, answer, holder=holder, keys=keys, sequence=answer.sequence, request_id=changeset.request_id)


def log_external_write(holder: str | None, answer: TakeAnswer) -> None:
    """Record that a change made without a commit entered the event log; a `holder` of None is no session."""
    keys = [region.key for region in answer.regions]
    _record("write", answer, holder=holder, keys=keys, sequence=answer.sequence, review=answer.review or None)


def _record(what: str, answer: _Decided, **fields: object) -> None:
    record = _log.debug if answer.outcome in _USUAL else _log.info
    record(f"{what} {answer.outcome}", code=answer.code, **fields)
