"""Several type checkers as one: each is asked about the files of its languages."""

from collections.abc import Collection, Mapping, Sequence

from commonhold.code.type_checkers import TypeChecker, TypeReport


class Checkers:
    """Asks each in turn; one that has no file among the changes reports nothing."""

    def __init__(self, checkers: Sequence[TypeChecker]) -> None:
        """They are closed with this."""
        self._checkers = tuple(checkers)

    def compare(
        self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
    ) -> TypeReport:
        """Return the new complaints of all, and why some could not be asked."""
        reports = [checker.compare(changes, also, confined) for checker in self._checkers]
        return TypeReport(
            tuple(one for report in reports for one in report.new),
            ", ".join(report.checker for report in reports if report.checker),
            "; ".join(report.why for report in reports if report.why),
            is_missing={report.is_missing for report in reports if report.why} == {True},
            unchecked=tuple(one for report in reports for one in report.unchecked),
        )

    def close(self) -> None:
        """End the processes of all; idempotent."""
        for checker in self._checkers:
            checker.close()
