"""Answering what agents' hooks report: each happening becomes calls of the service, and what the agent is told.

A hook is answered from what the service knows; nothing is kept here but open sessions, while they are heard of. Raises
what the service raises: whoever sends the answer then blocks what was about to happen.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, Protocol

from commonhold.adapters.ignoring import IsIgnored
from commonhold.adapters.trees import Trees
from commonhold.app.answers import TakeAnswer
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
    Unconcerned,
    Wish,
    is_about,
    told,
)
from commonhold.app.shell_reads import shown_by
from commonhold.client.session import Commonhold
from commonhold.domain.errors import CommonholdError, InputError
from commonhold.domain.keys import file_key
from commonhold.domain.texts import in_utf8
from commonhold.server import packets
from commonhold.server.editing import ToolEdit, inside
from commonhold.server.handing_down import end_part
from commonhold.server.open_sessions import OpenSessions


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
            session.intend(in_utf8(happening.task))
        return Response(context=packets.briefing(found, time.time()))

    def _prompt_given(self, happening: PromptGiven) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        session.intend(in_utf8(happening.prompt))
        return Response(context=told(*(each.notice for each in session.news())))

    def _has_read(self, happening: HasRead) -> Response:
        """Record it, and report other changes now: the agent's own tool may refuse the next edit before it asks us."""
        sessions = self._noted(happening)
        return Response(context=told(*(each.notice for session in sessions for each in session.news())))

    def _noted(self, happening: HasRead) -> Sequence[Commonhold]:
        sessions: dict[Commonhold, None] = {}
        for path in happening.paths:
            with suppress(InputError):  # a folder, or a file that is too large: nobody edits that
                place = self._trees.place(path, happening.cwd)
                if place and not self._is_ignored(*place):
                    session = self._sessions.session(place[0], happening.caller)
                    session.saw(str(file_key(place[1])), shown=in_utf8(happening.shown))
                    sessions[session] = None
        return list(sessions)

    def _about_to_edit(self, happening: AboutToEdit) -> Response:
        if happening.trouble:
            return Response(Stance.DENY, packets.unsaid(happening.trouble))
        happening = replace(happening, wishes=self._meant(happening))
        if inner := [path for path in is_about(happening.wishes) if self._trees.is_in_state(path, happening.cwd)]:
            return Response(Stance.DENY, packets.reserved(inner))
        contexts: list[str] = []
        with ExitStack() as begun:
            # In one order for all: who waits in one tree holds nothing that another waits for in the next.
            for root, wishes in sorted(self._trees.sorted_by_tree(happening.wishes, happening.cwd).items()):
                concerned = [wish for wish in wishes if not all(self._is_ignored(root, path) for path in inside(wish))]
                if concerned:
                    session = self._sessions.session(root, happening.caller)
                    intent = session.intent() or _unsaid(happening)
                    edit = ToolEdit(session, root, concerned, happening.call, intent, is_guess=happening.is_guess)
                    response = edit.propose(self._sessions.givers(root, happening.caller))
                    if response.stance is Stance.DENY:
                        return response
                    contexts.append(response.context)
                    begun.callback(session.settle, happening.call, is_about(concerned))
            begun.pop_all()  # else the tool will write nothing, in no tree
        return Response(context=told(*contexts))

    def _meant(self, happening: AboutToEdit | Edited) -> tuple[Wish, ...]:
        """What a tool writes, as far as that is a file's name."""
        if not happening.is_guess:
            return happening.wishes
        return tuple(filter(None, (self._trees.meant(wish, happening.cwd) for wish in happening.wishes)))

    def _edited(self, happening: Edited) -> Response:
        reasons: list[str] = []
        contexts: list[str] = []
        for root, wishes in self._trees.sorted_by_tree(self._meant(happening), happening.cwd).items():
            session = self._sessions.session(root, happening.caller)
            paths = [path for wish in wishes for path in inside(wish)]
            answer = session.settle(happening.call, paths, unasked=None if happening.has_failed else _unsaid(happening))
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
            self._noted(HasRead(happening.caller, happening.cwd, shown))
        return response

    def _ran(self, happening: Ran) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        return Response(context=told(self._shell.ran(happening), *(each.notice for each in session.news())))

    def _turn_ended(self, happening: TurnEnded) -> Response:
        return self._over(happening, [happening.caller.holder], _rest)

    def _session_ended(self, happening: SessionEnded) -> Response:
        """With a session its parts end, too, whether they have said so or not."""
        holder = happening.caller.holder
        names = [holder, *self._sessions.parts_of(holder)]
        response = self._over(happening, names, _depart)
        self._sessions.let_go(names)
        return response

    def _over(
        self, happening: TurnEnded | SessionEnded, names: Sequence[str], end: Callable[[Commonhold], TakeAnswer]
    ) -> Response:
        """End it wherever it is known to have worked; a daemon that was begun anew knows only where it is now."""
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


def _rest(session: Commonhold) -> TakeAnswer:
    """Release everything that a subagent held, since its session goes on."""
    around, _, part = session.holder.partition("/")
    return end_part(session, around) if part else session.rest()


def _depart(session: Commonhold) -> TakeAnswer:
    answer = _rest(session)
    session.depart()
    return answer


def _unsaid(happening: AboutToEdit | Edited) -> str:
    """The intent of an edit that nobody has said one for."""
    return f"{happening.tool} by {happening.caller.agent}"
