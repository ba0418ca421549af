"""Examine changes that were recorded before all files had been read, and report the findings to their authors."""

from collections.abc import Iterable
from typing import Final

from commonhold.commits.admission import CommitAdmission, Refused
from commonhold.commits.deferred_changes import DeferredChanges, Unexamined
from commonhold.commits.external.external_writes import ExternalWrites, Made
from commonhold.commits.plan import CommitRequest
from commonhold.commits.use_cases import UseCases
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.texts import NOBODY

_RECORDED: Final = "your change was recorded before Commonhold had read all files"


class LateExamination:
    """Examines the changes of one working tree that were put off."""

    def __init__(
        self,
        uses: UseCases,
        external_writes: ExternalWrites,
        admission: CommitAdmission,
        deferred_changes: DeferredChanges,
    ) -> None:
        """Read present files with `external_writes`, which waits until all files are read; judge with `admission`."""
        self._place = uses.place
        self._notifications = uses.notifications
        self._external_writes = external_writes
        self._admission = admission
        self._deferred_changes = deferred_changes

    def examine(self) -> None:
        """Examine all, however long that takes. Raises CommonholdError; the failed change stays for the next call."""
        waiting = self._deferred_changes.take(self._place.files.root)
        while waiting:
            try:
                self._examine(waiting[0])
            except CommonholdError as fault:
                for each in waiting if fault.retryable else waiting[1:]:
                    self._deferred_changes.add(each)
                raise
            del waiting[0]

    def _examine(self, change: Unexamined) -> None:
        """Examine the change from the earlier to the present files: parts reverted or repaired since are not found."""
        seen = self._external_writes.look(Made(change.holder, change.before, change.intent))
        if seen.planned is None:
            return
        plan, _ = seen.planned
        request = CommitRequest(change.holder, seen.changeset, self._place.files.root)
        with self._place.store.read() as reader:
            verdict = self._admission.across_files(reader, request, plan)
        if isinstance(verdict, Refused):
            review = self._external_writes.await_review(request, plan, verdict)
            self._tell(change, (f"{verdict.why} ({verdict.code}); next: commonhold review show {review}",))
        else:
            self._tell(change, verdict.notices)

    def _tell(self, change: Unexamined, found: Iterable[str]) -> None:
        what = "; ".join(found)
        if what:
            files = ", ".join(sorted(change.before))
            self._notifications.send([change.holder], f"{_RECORDED} ({files}): {what}", NOBODY)
