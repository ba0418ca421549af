"""The operations on agent sessions: their beginning, their turns, and the messages to them."""

from __future__ import annotations

from collections.abc import Sequence

from commonhold.api import terms
from commonhold.api.operations import Operation, Schedule
from commonhold.api.service_base import ServiceBase


class SessionOperations(ServiceBase):
    """Follows sessions from their start to their end, and delivers messages."""

    @Operation(reads=True, for_hooks=True)
    def is_at_work(self, holder: str) -> bool:
        """Whether a session still works here: it holds a lease, has called recently, or its process runs."""
        return self._writing.attendance.is_at_work(holder)

    @Operation(Schedule.QUICK, reads=True, route="POST /news")
    def news(self) -> tuple[terms.News, ...]:
        """Return, once, messages of others and their changes to what this session has read; notices have them too."""
        return self._uses.notifications.tell()

    @Operation(for_hooks=True, route="POST /messages")
    def send(self, holders: Sequence[str], text: str) -> None:
        """Send `text` to other sessions in this working tree, once: with their next answer that has notices.

        It waits for them as long as contents are kept. A message for an ended subagent goes to its session.
        """
        self._uses.notifications.send(holders, text)

    def add_notice(self, notice: str) -> None:
        """Include this notice in the next answer that has notices."""
        self._uses.notifications.add(notice)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def start_session(self, process: str = "") -> terms.Briefing:
        """Begin or continue this session, in the process of that name; return its briefing."""
        self._recover_if_possible()
        return self._writing.attendance.start_session(self.holder, process)

    @Operation(reads=True, for_hooks=True)
    def briefing(self) -> terms.Briefing:
        """Return the activity of others."""
        return self._writing.attendance.briefing(self._agent or "")

    @Operation(for_hooks=True)
    def set_intent(self, intent: str) -> None:
        """Set this session's latest prompt as its intent: others see it."""
        self._writing.attendance.set_intent(self.holder, intent)

    @Operation(Schedule.QUICK, reads=True, for_hooks=True)
    def intent(self) -> str:
        """Return this session's latest prompt."""
        return self._writing.attendance.intent_of(self.holder)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def end_turn(self) -> terms.RecordAnswer:
        """End this session's turn: record the results of its proposals, and release the leases taken for them."""
        answer = self._writing.proposals.end_turn(self.holder)
        self._writing.attendance.end_turn(self.holder)
        return answer

    @Operation(reads=True, for_hooks=True)
    def offered_task(self) -> terms.TaskAnswer:
        """Return the task to offer to this session now that its turn has ended.

        None unless the setting `offer_tasks` is on, the session has claimed a task before, and it neither holds one nor
        owes repairs.
        """
        if not self._uses.options.offer_tasks or self._writing.attendance.briefing(self.holder).debts:
            return terms.TaskAnswer("none")
        return self._uses.tasks.next_for(self.holder)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def end_session(self) -> terms.RecordAnswer:
        """End this session: record the results of its proposals, and release the leases taken for them."""
        answer = self._writing.proposals.end_turn(self.holder)
        self._writing.attendance.end_session(self.holder)
        return answer
