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
        self, uses: UseCases, taking: ExternalWrites, judging: CommitAdmission, put_off: DeferredChanges
    ) -> None:
        """Read the present files with `taking`, which waits until all files are read; judge with `judging`."""
        self._place = uses.place
        self._newsroom = uses.newsroom
        self._taking = taking
        self._judging = judging
        self._put_off = put_off

    def examine(self) -> None:
        """Examine all, however long that takes. Raises CommonholdError; the failed change stays for the next call."""
        waiting = self._put_off.take(self._place.files.root)
        while waiting:
            try:
                self._examine(waiting[0])
            except CommonholdError as fault:
                for each in waiting if fault.retryable else waiting[1:]:
                    self._put_off.add(each)
                raise
            del waiting[0]

    def _examine(self, change: Unexamined) -> None:
        """Examine the change from the earlier to the present files: parts reverted or repaired since are not found."""
        seen = self._taking.look(Made(change.holder, change.before, change.intent))
        if seen.planned is None:
            return
        plan, _ = seen.planned
        request = CommitRequest(change.holder, seen.changeset, self._place.files.root)
        with self._place.store.read() as reader:
            verdict = self._judging.across_files(reader, request, plan)
        if isinstance(verdict, Refused):
            review = self._taking.await_review(request, plan, verdict)
            self._tell(change, (f"{verdict.why} ({verdict.code}); next: commonhold review show {review}",))
        else:
            self._tell(change, verdict.notices)

    def _tell(self, change: Unexamined, found: Iterable[str]) -> None:
        what = "; ".join(found)
        if what:
            files = ", ".join(sorted(change.before))
            self._newsroom.send([change.holder], f"{_RECORDED} ({files}): {what}", NOBODY)
