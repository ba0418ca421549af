"""Log records of decisions about leases and writes, in one form: the holder, the keys or paths, the outcome, the code.

Refusals, commits and all that ends another's lease are on level info; the many calls that succeed as usual are on level
debug. The event log has all of them; these records tell which request caused them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from commonhold.machine.logs import Log

if TYPE_CHECKING:
    from commonhold.kernel.answers import AcquireAnswer, CommitAnswer, LeaseAnswer, RecordAnswer
    from commonhold.kernel.changeset import Changeset

_log: Final = Log(__name__)
_USUAL: Final = frozenset({"granted", "queued", "renewed", "released", "cancelled", "asked", "nothing"})


def _is_unwanted(outcome: str) -> bool:
    return outcome in _USUAL and not _log.is_traced


def log_acquire(holder: str, keys: Iterable[object], answer: AcquireAnswer) -> None:
    """Record whether a lease on `keys` was granted, and which lease."""
    if _is_unwanted(answer.outcome):
        return
    lease = answer.lease
    of_lease = {} if lease is None else {"lease": lease.id, "fence": lease.fence}
    blockers = {conflict.holder for conflict in answer.conflicts} or None
    _record("lease", answer.outcome, answer.code, holder=holder, keys=keys, **of_lease, blockers=blockers)


def log_lease(holder: str, lease_id: str, answer: LeaseAnswer) -> None:
    """Record the change of a lease, or its refusal."""
    if _is_unwanted(answer.outcome):
        return
    keys = answer.lease.keys if answer.lease else None
    _record("lease", answer.outcome, answer.code, holder=holder, lease=lease_id, keys=keys)


def log_commit(verb: str, holder: str, changeset: Changeset, answer: CommitAnswer) -> None:
    """Record the decision on a changeset: `verb` is "commit", "dry run", or "edit" for one that a tool will write."""
    keys = [edit.key for edit in changeset.edits]
    of_commit = {"sequence": answer.sequence, "request_id": changeset.request_id}
    _record(verb, answer.outcome, answer.code, holder=holder, keys=keys, **of_commit)


def log_external_write(holder: str | None, answer: RecordAnswer) -> None:
    """Record that a change made without a commit entered the event log; a `holder` of None is no session."""
    if _is_unwanted(answer.outcome):
        return
    keys = [region.key for region in answer.regions]
    of_write = {"sequence": answer.sequence, "review": answer.review or None}
    _record("write", answer.outcome, answer.code, holder=holder, keys=keys, **of_write)


def _record(verb: str, outcome: str, code: object, **fields: object) -> None:
    record = _log.debug if outcome in _USUAL else _log.info
    record(f"{verb} {outcome}", code=code, **fields)
