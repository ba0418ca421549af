"""The sessions at work in a working tree, and the briefing for a session that begins there."""

from dataclasses import replace
from typing import Final

from commonhold.commits.external.proposals import Proposals
from commonhold.kernel.commands import Break
from commonhold.kernel.keys import canonical
from commonhold.kernel.pictures import Briefing
from commonhold.kernel.ports import IsRunning
from commonhold.kernel.presence import Presence
from commonhold.kernel.purposes import OURS
from commonhold.kernel.texts import MAX_TEXT_LENGTH
from commonhold.kernel.write_slots import path_of_slot
from commonhold.leases.key_history import change_of
from commonhold.leases.partial_work import PartialWorks
from commonhold.leases.service import Leases
from commonhold.reads.heartbeats import Heartbeats
from commonhold.workspace.place import WorktreeState

RECENT_SECONDS: Final = 900.0
GONE_SECONDS: Final = 12 * 3600.0
"""A session without a sign of life for so long is no longer listed as at work."""
_MOST_CHANGES: Final = 50


class Attendance:
    """Tracks the sessions at work in one working tree."""

    def __init__(
        self,
        place: WorktreeState,
        leases: Leases,
        works: PartialWorks,
        proposals: Proposals,
        idle_seconds: float,
        is_running: IsRunning,
        signs: Heartbeats,
    ) -> None:
        """Keep them in the state of `place`; a session idle for `idle_seconds` has ended, unless it `is_running`.

        For a session without hooks the `signs` of life decide.
        """
        self._place = place
        self._leases = leases
        self._works = works
        self._proposals = proposals
        self._idle_seconds = idle_seconds
        self._is_running = is_running
        self._signs = signs

    def start_session(self, holder: str, process: str) -> Briefing:
        """Record that a session begins, or goes on. If its process changed, the earlier run ended without a report."""
        before = self._presence(holder)
        if before and process and before.process and before.process != process:
            self._end_without_word(holder)
        self._attend(holder, process=process)
        return self.briefing(holder)

    def set_intent(self, holder: str, intent: str) -> None:
        """Record the session's latest prompt as its intent."""
        line = " ".join(intent.split())
        self._attend(holder, intent="".join(each for each in line if each.isprintable())[:MAX_TEXT_LENGTH])

    def intent_of(self, holder: str) -> str:
        """Return the session's latest prompt."""
        presence = self._presence(holder)
        return presence.intent if presence else ""

    def is_at_work(self, holder: str) -> bool:
        """Whether a session or one of its subagents shows signs of life, runs a command, or holds a lease."""
        if self._signs.is_heard(holder, self._wall() - self._idle_seconds):
            return True
        session = holder.partition("/")[0]
        with self._place.store.read() as reader:
            known = reader.presences(self._place.files.root)
        heard = (each.holder for each in known if self._is_heard(each) or self._runs(each))
        holds = (lease.holder for lease in self._leases.live())
        return session in {each.partition("/")[0] for each in (*heard, *holds)}

    def _is_heard(self, presence: Presence) -> bool:
        return self._wall() - presence.seen_at < self._idle_seconds

    def end_turn(self, holder: str) -> None:
        """Record that the session waits for its user."""
        presence = self._presence(holder)
        if presence is not None:
            self._keep(replace(presence, is_at_rest=True, seen_at=self._wall()))

    def end_session(self, holder: str) -> None:
        """Record that the session has reported its end."""
        self._signs.forget(holder)
        with self._place.store.write() as writer:
            writer.end_session(holder, self._place.files.root)

    def briefing(self, holder: str) -> Briefing:
        """Return the briefing for a session that works there."""
        root, wall = self._place.files.root, self._wall()
        with self._place.store.read() as reader:
            others = [each for each in reader.presences(root) if each.holder != holder]
            commits = reader.latest_commits(_MOST_CHANGES)
            debts = tuple(each for each in reader.debts() if _owes(holder, each.holder) and each.worktree == root)
        changes = tuple(
            change_of(recorded, commit)
            for recorded, commit in commits
            if commit.worktree == root and commit.holder != holder and wall - recorded.at < RECENT_SECONDS
        )
        leases = [each for each in self._leases.live() if each.holder != holder]
        return Briefing(
            tuple(each for each in others if wall - each.seen_at < GONE_SECONDS),
            tuple(each for each in leases if all(path_of_slot(key) is None for key in each.keys)),
            changes,
            self._works.waiting(),
            debts,
        )

    def end_gone(self) -> None:
        """Record the results of the proposals of sessions that ended without a report, and later delete such sessions.

        Their actual writes are recorded; the texts that they were to write stay among the kept contents. A session that
        goes on after all begins again.
        """
        if self._gone():
            with self._place.gate():  # so that none of them begins to write meanwhile
                for holder in self._gone():
                    self._proposals.give_up(holder)
        self._forget_absent()

    def _gone(self) -> list[str]:
        """Return sessions with proposals that have no sign of life and no lease, and are not known to run."""
        root = self._place.files.root
        with self._place.store.read() as reader:
            known = reader.presences(root)
            writing = {each.holder for each in reader.proposals(root)}
        heard = {each.holder for each in known if self._is_heard(each) or self._runs(each)}
        gone = writing - heard
        return sorted(gone - {lease.holder for lease in self._leases.live()}) if gone else []

    def _runs(self, presence: Presence) -> bool:
        return bool(presence.process) and self._is_running(presence.process)

    def _forget_absent(self) -> None:
        root, wall = self._place.files.root, self._wall()
        with self._place.store.read() as reader:
            known = reader.presences(root)
        absent = [each.holder for each in known if wall - each.seen_at >= GONE_SECONDS and not self._runs(each)]
        if absent:
            with self._place.store.write() as writer:
                for holder in absent:
                    writer.end_session(holder, root)

    def _end_without_word(self, holder: str) -> None:
        """Settle the proposals of a session whose process is gone, break its leases, and keep its partial work."""
        self._proposals.finish_all(holder)
        broken = [lease for lease in self._leases.live(holder=holder) if lease.acquisition_id in OURS]
        for lease in broken:
            self._place.registry.execute(Break(lease.id, holder, "its session was restarted by another process"))
        self._works.look_for([canonical(key) for lease in broken for key in lease.keys])

    def _attend(self, holder: str, intent: str = "", process: str = "") -> None:
        wall = self._wall()
        known = self._presence(holder) or Presence(holder, self._place.files.root, "", process, wall, wall)
        changed = replace(known, intent=intent or known.intent, process=process or known.process)
        self._keep(replace(changed, seen_at=wall, is_at_rest=False))

    def _presence(self, holder: str) -> Presence | None:
        with self._place.store.read() as reader:
            found = reader.presences(self._place.files.root)
        return next((each for each in found if each.holder == holder), None)

    def _keep(self, presence: Presence) -> None:
        with self._place.store.write() as writer:
            writer.attend(presence)

    def _wall(self) -> float:
        return self._place.clock.now().wall


def _owes(holder: str, debtor: str) -> bool:
    """Whether a holder must fix it: its own obligations, and those of its subagents."""
    return bool(holder) and (debtor == holder or debtor.startswith(f"{holder}/"))
