"""Decide on a commit that other files are only suspected to depend on (by name): by policy, and by the tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonhold.code.analysis.admission import Escalation
from commonhold.code.analysis.repository.impacted_tests import ImpactedTest
from commonhold.kernel.policy import Suspicion
from commonhold.kernel.texts import counted
from commonhold.merging.branches.candidate_verification import CHECK_SECONDS
from commonhold.merging.branches.verification import Check

TestsOf = Callable[[Sequence[str]], Check]
"""A function that returns the check for tests at some paths; the check runs them on a copy of the working tree."""
Contents = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Suspected:
    """Suspicions, each with the project's policy for it. `whole` are all files of a candidate."""

    escalations: Mapping[Suspicion, Escalation] = field(default_factory=dict)
    whole: Contents = field(default_factory=dict)


class SuspicionPolicy:
    """Decides on suspicions. Tests run each time: a pass in another state of the files proves nothing."""

    def __init__(self, tests_of: TestsOf | None, seconds: float = CHECK_SECONDS) -> None:
        """Run tests with `tests_of`, if the user has configured a command, for at most `seconds`."""
        self._tests_of = tests_of
        self._seconds = seconds

    def decided(
        self, suspected: Suspected, impacted: Callable[[], Sequence[ImpactedTest]]
    ) -> tuple[tuple[Escalation, ...], tuple[str, ...]]:
        """Return the suspicions that still escalate, and the notices."""
        escalations: list[Escalation] = []
        notices: list[str] = []
        for policy, escalation in suspected.escalations.items():
            if policy is Suspicion.NOTICE:
                notices.append(escalation.why)
            elif policy is Suspicion.TESTS:
                self._test(escalation, suspected.whole, impacted(), escalations, notices)
            else:
                escalations.append(escalation)
        return tuple(escalations), tuple(notices)

    def _test(
        self,
        escalation: Escalation,
        whole: Contents,
        impacted: Sequence[ImpactedTest],
        escalations: list[Escalation],
        notices: list[str],
    ) -> None:
        paths = [each.path for each in impacted]
        if self._tests_of is None or not paths:
            lack = (
                "no test is known to tell" if self._tests_of else "COMMONHOLD_TESTS names no command to run its tests"
            )
            escalations.append(replace(escalation, why=f"{escalation.why}; {lack}"))
            return
        result = self._tests_of(paths).passes(whole, self._seconds)
        if result.passed:
            notices.append(f"{escalation.why}; {counted(len(paths), 'file')} of tests passed with the change")
            return
        last = result.tail.strip().rpartition("\n")[2]
        escalations.append(replace(escalation, why=f"{escalation.why}; its tests fail with the change ({last})"))
