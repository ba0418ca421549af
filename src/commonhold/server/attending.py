"""Answering what agents' hooks report: each happening becomes calls of the service, and what the agent is told.

A hook is answered from what the service knows; nothing is kept here but open sessions, while they are heard of. Raises
what the service raises: whoever sends the answer then blocks what was about to happen.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, Protocol

from commonhold.adapters.files import WorkingTree
from commonhold.adapters.ignoring import IsIgnored
from commonhold.adapters.trees import Trees
from commonhold.app.answers import AcquireAnswer, CommitAnswer, TakeAnswer
from commonhold.app.happenings import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Edited,
    Happening,
    HasRead,
    PromptGiven,
    Ran,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    SubagentBegan,
    TurnEnded,
    Unclear,
    Unconcerned,
    Wish,
    is_about,
    told,
)
from commonhold.app.proposing import HELD_FOR_TURN
from commonhold.app.shell_reads import shown_by
from commonhold.app.whole_files import made_to_hold
from commonhold.app.wishes import results
from commonhold.client.session import Commonhold
from commonhold.domain.changeset import Changeset, LeaseRef
from commonhold.domain.errors import Code, CommonholdError, InputError
from commonhold.domain.keys import file_key
from commonhold.domain.refusal import Refusal
from commonhold.domain.slots import SLOT_SECONDS, path_of_slot, slot_of
from commonhold.regions.region import hash_of
from commonhold.server import packets
from commonhold.server.blindness import overwritten_blindly
from commonhold.server.handing_down import handed_down
from commonhold.server.lateness import too_long
from commonhold.server.open_sessions import OpenSessions

PATIENCE_SECONDS: Final = 20.0
"""How long an edit may wait for others in all: less than any hook is given to answer."""
SLOT_PATIENCE_SECONDS: Final = 8.0
_SLOW_SECONDS: Final = 2.0
"""When judging took so long, the write slot begins anew: much of its time is over."""
_MOST_ATTEMPTS: Final = 3
_MOST_BYTES: Final = 1 << 26
"""What is larger is not looked at; the settings may draw a closer line."""


class Shell(Protocol):
    """Sees to the shell commands of agents."""

    def about_to_run(self, happening: AboutToRun, root: str, session: Commonhold) -> Response:
        """What to say to a command in the working tree at `root`."""

    def ran(self, happening: Ran) -> str:
        """What an agent must know of a command that has ended; empty for nothing."""

    def over(self, holder: str) -> None:
        """Nothing more will be told of the commands of a holder that were begun."""

    def free(self, session: Commonhold) -> None:
        """Free what is held for commands of a session that are not known any more."""


class Attending:
    """Attends to the agents of one repository. Many threads may call at once."""

    def __init__(self, trees: Trees, sessions: OpenSessions, is_ignored: IsIgnored, shell: Shell) -> None:
        """Find files in `trees`, speak to the service through `sessions`, leave shell commands to `shell`."""
        self._trees = trees
        self._sessions = sessions
        self._is_ignored = is_ignored
        self._shell = shell
        self._answers: Mapping[type[Happening], Callable[[Any], Response]] = {
            SessionBegan: self._session_began,
            PromptGiven: self._prompt_given,
            AboutToEdit: self._about_to_edit,
            Edited: self._edited,
            HasRead: self._has_read,
            AboutToRun: self._about_to_run,
            Ran: self._ran,
            SubagentBegan: self._subagent_began,
            TurnEnded: self._turn_ended,
            SessionEnded: self._session_ended,
            Unconcerned: lambda _: NOTHING,
        }

    def attend(self, happening: Happening) -> Response:
        """The answer to what a hook reports. Raises CommonholdError where that cannot be decided."""
        if isinstance(happening, TurnEnded | SessionEnded) and self._sessions.is_of_earlier_run(happening.caller):
            return NOTHING
        return self._answers[type(happening)](happening)

    def let_go_of_silent(self) -> None:
        """Close the sessions that have ended without a word; what they held the service sees to."""
        for holder in self._sessions.let_go_of_silent():
            with suppress(CommonholdError):  # the next is seen to all the same
                self._shell.over(holder)

    def close(self) -> None:
        """Let go of all sessions."""
        self._sessions.close()

    def _here(self, happening: Happening) -> Commonhold | None:
        """The session in the working tree that the agent works in."""
        root = self._trees.around(happening.cwd)
        return self._sessions.session(root, happening.caller) if root else None

    def _session_began(self, happening: SessionBegan) -> Response:
        root = self._trees.around(happening.cwd)
        if root is None:
            return NOTHING
        session = self._sessions.begun(root, happening.caller)
        return Response(context=packets.briefing(session.arrive(happening.caller.process), time.time()))

    def _subagent_began(self, happening: SubagentBegan) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        found = session.arrive(happening.caller.process)
        if happening.task:
            session.intend(happening.task)
        return Response(context=packets.briefing(found, time.time()))

    def _prompt_given(self, happening: PromptGiven) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        session.intend(happening.prompt)
        return Response(context=told(*(each.notice for each in session.news())))

    def _has_read(self, happening: HasRead) -> Response:
        for path in happening.paths:
            with suppress(InputError):  # a folder, or a file that is too large: nobody edits that
                place = self._trees.place(path, happening.cwd)
                if place and not self._is_ignored(*place):
                    session = self._sessions.session(place[0], happening.caller)
                    session.saw(str(file_key(place[1])), shown=happening.shown)
        return NOTHING

    def _about_to_edit(self, happening: AboutToEdit) -> Response:
        if happening.trouble:
            return Response(Stance.DENY, packets.unsaid(happening.trouble))
        if inner := [path for path in is_about(happening.wishes) if self._trees.is_in_state(path, happening.cwd)]:
            return Response(Stance.DENY, packets.reserved(inner))
        contexts: list[str] = []
        with ExitStack() as begun:
            # In one order for all: who waits in one tree holds nothing that another waits for in the next.
            for root, wishes in sorted(self._trees.sorted_by_tree(happening.wishes, happening.cwd).items()):
                concerned = [wish for wish in wishes if not all(self._is_ignored(root, path) for path in _inside(wish))]
                if concerned:
                    session = self._sessions.session(root, happening.caller)
                    edit = _Edit(session, root, concerned, happening.call, self._intent(session, happening))
                    response = edit.propose(self._sessions.around(root, happening.caller))
                    if response.stance is Stance.DENY:
                        return response
                    contexts.append(response.context)
                    begun.callback(session.settle, happening.call, is_about(concerned))
            begun.pop_all()  # else the tool will write nothing, in no tree
        return Response(context=told(*contexts))

    def _intent(self, session: Commonhold, happening: AboutToEdit) -> str:
        return session.intent() or f"{happening.tool} by {happening.caller.agent}"

    def _edited(self, happening: Edited) -> Response:
        reasons: list[str] = []
        contexts: list[str] = []
        for root, wishes in self._trees.sorted_by_tree(happening.wishes, happening.cwd).items():
            answer = self._sessions.session(root, happening.caller).settle(happening.call, is_about(wishes))
            reasons.append(packets.taken(answer))
            contexts += answer.notices
        return Response(reason=told(*reasons), context=told(*contexts))

    def _about_to_run(self, happening: AboutToRun) -> Response:
        root = self._trees.around(happening.cwd)
        if root is None:
            return NOTHING
        response = self._shell.about_to_run(happening, root, self._sessions.session(root, happening.caller))
        if response.stance is not Stance.DENY:
            shown = shown_by(("sh", "-c", happening.command))
            self._has_read(HasRead(happening.caller, happening.cwd, shown))
        return response

    def _ran(self, happening: Ran) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        return Response(context=told(self._shell.ran(happening), *(each.notice for each in session.news())))

    def _turn_ended(self, happening: TurnEnded) -> Response:
        return self._over(happening, [happening.caller.holder], Commonhold.rest)

    def _session_ended(self, happening: SessionEnded) -> Response:
        """With a session its parts end, too, whether they have said so or not."""
        holder = happening.caller.holder
        names = [holder, *self._sessions.parts_of(holder)]
        response = self._over(happening, names, Commonhold.depart)
        self._sessions.let_go(names)
        return response

    def _over(
        self, happening: TurnEnded | SessionEnded, names: Sequence[str], end: Callable[[Commonhold], TakeAnswer]
    ) -> Response:
        """End it wherever it is known to have been; a daemon that was begun anew knows where it is now."""
        for name in names:
            self._shell.over(name)
        known = [session for name in names for session in self._sessions.of(name)]
        here = self._here(happening)
        sessions = dict.fromkeys((*known, here) if here else known)
        response = Response(notice=told(*(packets.taken(end(session)) for session in sessions)))
        for session in sessions:
            self._shell.free(session)
            session.close()  # its connection; the next call makes another, and many never make one
        return response


class _Edit:
    """One call of a tool that is about to write files of one working tree."""

    def __init__(self, session: Commonhold, root: str, wishes: Sequence[Wish], call: str, intent: str) -> None:
        self._session = session
        self._root = root
        self._files = WorkingTree(root, max_file_bytes=_MOST_BYTES)
        self._wishes = wishes
        self._call = call
        self._intent = intent
        self._paths = list(dict.fromkeys(path for wish in wishes for path in _inside(wish)))
        self._notices: list[str] = []
        self._ends = time.monotonic() + PATIENCE_SECONDS

    def propose(self, around: Commonhold | None) -> Response:
        """Propose it; where others hold what it changes, wait for them a little, and look at it anew.

        `around` is the session that this one is a part of.
        """
        for _ in range(_MOST_ATTEMPTS):
            answer = self._looked_at()
            if isinstance(answer, str):
                return self._denied(answer)
            if answer is None:
                return Response(context=told(*self._notices))
            if answer.outcome != "refused":
                return Response(context=told(*self._notices, *answer.notices))
            if answer.code is not Refusal.LOCK_CONFLICT:
                return self._denied(packets.refusal(answer))
            if around and handed_down(around, self._session, answer.conflicts):
                continue
            waited = self._wait_for([each.key for each in answer.conflicts])
            if waited.lease is None:
                return self._denied(packets.denial(waited))
        return self._denied(packets.unclear(f"{self._paths[0]} is changed by others again and again"))

    def _denied(self, packet: str) -> Response:
        """What others changed was told with the slot, once: it is said before the next step."""
        why, _, step = packet.rpartition("\n")
        return Response(Stance.DENY, told(why, *self._notices, step))

    def _looked_at(self) -> CommitAnswer | str | None:
        """What comes of an attempt; why not, of a file too large to be read, or to be judged while the slot lasts."""
        try:
            answer = self._attempt()
        except InputError as fault:
            if fault.code is Code.FILE_TOO_LARGE:
                return packets.too_large(fault.message)
            raise
        is_over = isinstance(answer, CommitAnswer) and answer.code is Refusal.LEASE_LOST
        why = too_long(self._wishes, self._root) if is_over else ""
        return packets.too_large(why) if why else answer

    def _attempt(self) -> CommitAnswer | str | None:
        """The answer to the proposal; why there is none to be made, or None where nothing is changed."""
        slot = self._slot()
        if slot.lease is None:
            return packets.busy(slot, self._paths)
        is_kept, begun = False, time.monotonic()
        try:
            answer = self._judged(LeaseRef(slot.lease.id, slot.lease.fence))
            is_kept = isinstance(answer, CommitAnswer) and answer.outcome != "refused"
        finally:
            if not is_kept:
                self._notices += self._session.release(slot.lease.id).notices
        if is_kept and time.monotonic() - begun >= _SLOW_SECONDS:  # the tool needs its moment, too
            self._notices += self._session.renew(slot.lease.id, ttl_seconds=SLOT_SECONDS).notices
        return answer

    def _slot(self) -> AcquireAnswer:
        keys = [str(slot_of(self._session.place(), path)) for path in self._paths]
        slot = self._session.acquire(
            *keys,
            task=self._intent,
            ttl_seconds=SLOT_SECONDS,
            wait_seconds=min(SLOT_PATIENCE_SECONDS, self._patience()),
        )
        self._notices += slot.notices
        return slot

    def _wait_for(self, keys: Sequence[str]) -> AcquireAnswer:
        wanted = [key for key in dict.fromkeys(keys) if path_of_slot(key) is None]
        answer = self._session.acquire(
            *wanted, task=self._intent, acquisition_id=HELD_FOR_TURN, wait_seconds=self._patience()
        )
        self._notices += answer.notices
        return answer

    def _patience(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def _judged(self, slot: LeaseRef) -> CommitAnswer | str | None:
        if foreign := [wish.path for wish in self._wishes if Path(wish.path).is_absolute()]:
            return packets.foreign(foreign[0], self._paths)
        there = {path: self._load(path) for path in self._paths}
        made = results(self._wishes, there.get)
        if isinstance(made, Unclear):
            return packets.unclear(f"{made.path or self._paths[0]}: {made.why}")
        changed = [path for path in self._paths if path in made and made[path] != there[path]]
        edits = [made_to_hold(path, hash_of(there[path]), made[path]) for path in changed]
        if not edits:
            return None
        changeset = Changeset(tuple(edits), self._intent, leases=(slot,), merge=False)
        return self._session.propose(changeset, call=self._call, blind=overwritten_blindly(self._wishes))

    def _load(self, path: str) -> bytes | None:
        state = self._files.load(path)
        return state.content if state is not None else None


def _inside(wish: Wish) -> list[str]:
    """What a wish is about in the working tree whose it is."""
    return [path for path in is_about((wish,)) if not Path(path).is_absolute()]
