"""Examining what was recorded before all files had been read, and telling its author what that finds."""

from collections.abc import Iterable
from typing import Final

from commonhold.app.judging import Judging, Refused
from commonhold.app.plan import CommitRequest
from commonhold.app.put_off import PutOff, Unexamined
from commonhold.app.taking import Made, Taking
from commonhold.app.use_cases import UseCases
from commonhold.domain.errors import CommonholdError
from commonhold.domain.texts import NOBODY

_RECORDED: Final = "your change was recorded before Commonhold had read all files"


class LateExamination:
    """Examines the changes of one working tree that were put off."""

    def __init__(self, uses: UseCases, taking: Taking, judging: Judging, put_off: PutOff) -> None:
        """See with `taking`, which waits until all files are read, what files have become; judge with `judging`."""
        self._place = uses.place
        self._newsroom = uses.newsroom
        self._taking = taking
        self._judging = judging
        self._put_off = put_off

    def examine(self) -> None:
        """Examine all, however long that takes. Raises CommonholdError; what it failed on is examined the next time."""
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
        """From what the files were to what they are now: what was taken back, or mended, meanwhile is not found."""
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
