"""An edit that an agent's own tool is about to make: simulate and propose it, wait for others, answer the agent."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from commonhold.agents.edits.intended_writes import results
from commonhold.agents.hook_events import (
    IntendedWrite,
    Patched,
    Removed,
    Response,
    Stance,
    Swap,
    Unclear,
    Whole,
    is_about,
    told,
)
from commonhold.agents.runtime import agent_messages
from commonhold.agents.runtime.lateness import too_long
from commonhold.agents.runtime.lease_inheritance import handed_over
from commonhold.agents.runtime.patience import is_worth_waiting
from commonhold.client.session import Commonhold
from commonhold.code.regions.region import hash_of
from commonhold.kernel.answers import AcquireAnswer, CommitAnswer, RepairRegion
from commonhold.kernel.changeset import Changeset, LeaseRef, made_to_hold
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Committed
from commonhold.kernel.keys import file_key
from commonhold.kernel.lease import Conflict
from commonhold.kernel.purposes import HELD_FOR_TURN, MOST_SHOWN
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import NOBODY
from commonhold.kernel.write_slots import SLOT_SECONDS, path_of_slot, slot_of
from commonhold.leases.answers import for_writing
from commonhold.reads.likeliest_region import likeliest_region
from commonhold.workspace.files import WorkingTree

PATIENCE_SECONDS: Final = 20.0
"""How long an edit may wait for others in total: less than the time in which any hook must answer."""
SLOT_PATIENCE_SECONDS: Final = 8.0
_SLOW_SECONDS: Final = 2.0
"""If judging took this long, the write slot is renewed: much of its time is over."""
_MOST_ATTEMPTS: Final = 3
_MOST_COMMITS: Final = 20
"""How many commits to search for the author of a change to the intended text."""
_REFUSED: Final = frozenset({"refused", "denied"})
_MOST_BYTES: Final = 1 << 26
"""Larger files are not read; the settings may set a lower limit."""


class ToolEdit:
    """One call of a tool that is about to write files of one working tree."""

    def __init__(
        self,
        session: Commonhold,
        root: str,
        wishes: Sequence[IntendedWrite],
        call: str,
        intent: str,
        *,
        is_guess: bool = False,
    ) -> None:
        """Act for `session` in the working tree at `root`; the paths of `wishes` are relative to it.

        A guess is refused only for regions that others hold or have changed, never for edits that it may not mean.
        """
        self._session = session
        self._root = root
        self._files = WorkingTree(root, max_file_bytes=_MOST_BYTES)
        self._wishes = wishes
        self._call = call
        self._intent = intent
        self._is_guess = is_guess
        self._paths = list(dict.fromkeys(path for wish in wishes for path in inside(wish)))
        self._notices: list[str] = []
        self._ends = time.monotonic() + PATIENCE_SECONDS

    def propose(self, givers: Sequence[Commonhold]) -> Response:
        """Propose the edit; if others hold its regions and may soon be done, wait for them, and try again.

        `givers` are sessions that hand over the leases of their edits.
        """
        for _ in range(_MOST_ATTEMPTS):
            answer = self._looked_at()
            if isinstance(answer, str):
                return self._denied(answer)
            if answer is None:
                return Response(context=told(*self._notices))
            if answer.outcome not in _REFUSED:
                return Response(context=told(*self._notices, *answer.notices))
            if isinstance(answer, CommitAnswer) and answer.code is not Refusal.LOCK_CONFLICT:
                return self._denied(agent_messages.refusal(answer, time.time(), self._agent))
            given = [handed_over(giver, self._session, answer.conflicts) for giver in givers]
            if any(given):
                continue
            if still := self._in_the_way(answer.conflicts):
                return self._denied(agent_messages.denial(still, time.time()))
        return self._denied(agent_messages.unclear(f"{self._paths[0]} is changed by others again and again"))

    def _denied(self, packet: str) -> Response:
        """Return a denial with others' changes before the next step: the slot delivered these notices, once only."""
        why, _, step = packet.rpartition("\n")
        return Response(Stance.DENY, told(why, *self._notices, step))

    def _looked_at(self) -> CommitAnswer | AcquireAnswer | str | None:
        """Return the result of an attempt; a refusal if a file is too large to read, or to judge in the slot's time."""
        try:
            answer = self._attempt()
        except InputError as fault:
            if self._is_guess:
                return self._held_anyway()
            if fault.code is Code.FILE_TOO_LARGE:
                return agent_messages.too_large(fault.message)
            raise
        is_over = isinstance(answer, CommitAnswer) and answer.code is Refusal.LEASE_LOST
        why = too_long(self._wishes, self._root) if is_over else ""
        return agent_messages.too_large(why) if why else answer

    def _attempt(self) -> CommitAnswer | AcquireAnswer | str | None:
        """Return the answer to the proposal, a text if none can be made, or None if nothing changes."""
        keys = [str(slot_of(self._session.worktree_id(), path)) for path in self._paths]
        patience = min(SLOT_PATIENCE_SECONDS, self._patience())
        slot = self._session.acquire(*keys, task=self._intent, ttl_seconds=SLOT_SECONDS, wait_seconds=patience)
        self._notices += slot.notices
        if slot.lease is None:
            return agent_messages.busy(slot.conflicts, self._paths)
        is_kept, begun = False, time.monotonic()
        try:
            answer = self._judged(LeaseRef(slot.lease.id, slot.lease.fence))
            is_kept = isinstance(answer, CommitAnswer) and answer.outcome != "refused"
        finally:
            if not is_kept:
                self._notices += self._session.release(slot.lease.id).notices
        if is_kept and time.monotonic() - begun >= _SLOW_SECONDS:  # the tool needs time, too
            self._notices += self._session.renew(slot.lease.id, ttl_seconds=SLOT_SECONDS).notices
        return answer

    def _in_the_way(self, conflicts: Sequence[Conflict]) -> Sequence[Conflict]:
        """Return the conflicts that are left, after waiting if that was likely to help."""
        holders = dict.fromkeys(each.holder for each in conflicts if not each.is_waiting)
        leases = [lease for holder in holders for lease in self._session.leases(holder=holder)]
        if not is_worth_waiting(conflicts, leases, self._patience(), time.time()):
            return conflicts
        wanted = [key for key in dict.fromkeys(each.key for each in conflicts) if path_of_slot(key) is None]
        waited = self._session.acquire(
            *wanted, task=self._intent, acquisition_id=HELD_FOR_TURN, wait_seconds=self._patience()
        )
        self._notices += for_writing(waited, wanted).notices
        return waited.conflicts if waited.lease is None else ()

    def _patience(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def _judged(self, slot: LeaseRef) -> CommitAnswer | AcquireAnswer | str | None:
        if foreign := [wish.path for wish in self._wishes if Path(wish.path).is_absolute()]:
            return agent_messages.foreign(foreign[0], self._paths)
        states = {path: self._files.load(path) for path in self._paths}
        there = {path: state.content if state is not None else None for path, state in states.items()}
        made = results(self._wishes, there.get)
        if isinstance(made, Unclear) and self._is_guess:
            return self._held_anyway()
        if isinstance(made, Unclear):
            path = made.path or self._paths[0]
            return agent_messages.unclear(
                f"{path}: {made.why}", self._agent, self._likely(path, there.get(path)), made.step
            )
        changed = [path for path in self._paths if path in made and made[path] != there[path]]
        edits = [made_to_hold(path, hash_of(there[path]), made[path]) for path in changed]
        if not edits:
            return None
        changeset = Changeset(tuple(edits), self._intent, leases=(slot,), merge=False)
        return self._session.propose(changeset, call=self._call, blind=self._blind())

    def _blind(self) -> tuple[str, ...]:
        """Return the files that are overwritten without naming their present content: their writer must know it.

        How an unknown tool reads is unknown, too: for a guess, these are only the files that another session wrote
        last.
        """
        paths: dict[str, None] = {}
        for wish in self._wishes:
            if isinstance(wish, Whole | Removed):
                paths[wish.path] = None
            elif isinstance(wish, Patched) and wish.to:
                paths[wish.to] = None
        return tuple(path for path in paths if not self._is_guess or self._is_of_another(path))

    def _is_of_another(self, path: str) -> bool:
        newest, own = self._session.commits_on(path, limit=1), (self._session.holder, NOBODY)
        return any(isinstance(each.event, Committed) and each.event.holder not in own for each in newest)

    def _held_anyway(self) -> AcquireAnswer:
        """Lease the files and release them: a grant shows that no other holds them, and records their content."""
        keys = [str(file_key(f"{path}/" if Path(self._root, path).is_dir() else path)) for path in self._paths]
        answer = for_writing(self._session.acquire(*keys, task=self._intent, ttl_seconds=SLOT_SECONDS), keys)
        self._notices += answer.notices
        if answer.lease is not None:
            self._notices += self._session.release(answer.lease.id).notices
        return replace(answer, notices=())

    @property
    def _agent(self) -> str:
        return self._session.holder.partition(":")[0]

    def _likely(self, path: str, content: bytes | None) -> RepairRegion | None:
        """Return the region that the tool most likely meant if the file lacks its text.

        It is shown as it is now, with the session that was the last other one to change it.
        """
        sought = _sought(self._wishes, path)
        if content is None or not sought:
            return None
        commits = [each.event for each in self._session.commits_on(path, limit=_MOST_COMMITS)[::-1]]
        others = [each for each in commits if isinstance(each, Committed) and each.holder != self._session.holder]
        changed = {change.key for each in others for change in each.regions}
        found = likeliest_region(content, path, sought, changed)
        if found is None:
            return None
        source, region = found
        key, text = str(region.key), source.bytes_of(region).decode("utf-8", "replace")
        if len(text) <= MOST_SHOWN:
            self._session.record_read(key)
        by = next((each for each in others if any(change.key == key for change in each.regions)), None)
        return RepairRegion(key, region.hash, text, by.holder if by else None, by.intent if by else None)


def _sought(wishes: Iterable[IntendedWrite], path: str) -> str:
    """Return the text that wishes look for in a file; empty if they do not say."""
    for wish in wishes:
        if wish.path == path and isinstance(wish, Swap):
            return wish.old
        if wish.path == path and isinstance(wish, Patched):
            return "\n".join(line for hunk in wish.hunks for line in hunk.before)
    return ""


def inside(wish: IntendedWrite) -> list[str]:
    """Return the paths of a wish that lie in its working tree."""
    return [path for path in is_about((wish,)) if not Path(path).is_absolute()]
