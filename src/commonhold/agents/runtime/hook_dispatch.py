"""Answer agents' hooks: each event becomes calls of the service, and a response to the agent.

A hook is answered from the service's state; only open sessions are kept here, for as long as events of them arrive.
Raises all errors of the service: the sender of the answer then blocks the action that the hook announced.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, Protocol

from commonhold.agents.hook_events import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Edited,
    Happening,
    HasRead,
    IntendedWrite,
    PromptGiven,
    Ran,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    SubagentBegan,
    TurnEnded,
    Unconcerned,
    is_about,
    told,
)
from commonhold.agents.runtime import agent_messages
from commonhold.agents.runtime.editing import ToolEdit, inside
from commonhold.agents.runtime.lease_inheritance import end_part
from commonhold.agents.runtime.open_sessions import OpenSessions
from commonhold.agents.runtime.working_trees import Trees
from commonhold.client.session import Commonhold
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.errors import CommonholdError, InputError
from commonhold.kernel.keys import file_key
from commonhold.kernel.texts import in_utf8
from commonhold.shell.reads import shown_by
from commonhold.workspace.ignore import IsIgnored


class Shell(Protocol):
    """Handles the shell commands of agents."""

    def about_to_run(self, happening: AboutToRun, root: str, session: Commonhold) -> Response:
        """Return the response to a command in the working tree at `root`."""

    def ran(self, happening: Ran) -> str:
        """Return the report about an ended command for its agent; empty for nothing."""

    def over(self, holder: str) -> None:
        """End the commands of a holder that have begun: no hook will report on them any more."""

    def free(self, session: Commonhold) -> None:
        """Free the leases for commands of a session that are no longer known."""


class HookDispatch:
    """Handles the agents of one repository. Many threads may call it at once."""

    def __init__(self, trees: Trees, sessions: OpenSessions, is_ignored: IsIgnored, shell: Shell) -> None:
        """Find files in `trees`, call the service through `sessions`, leave shell commands to `shell`."""
        self._trees = trees
        self._sessions = sessions
        self._is_ignored = is_ignored
        self._shell = shell
        self._offered: dict[str, set[str]] = {}
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
        """Return the answer to the event that a hook reports. Raises CommonholdError if it cannot be decided."""
        if isinstance(happening, TurnEnded | SessionEnded) and self._sessions.is_of_earlier_run(happening.caller):
            return NOTHING
        return self._answers[type(happening)](happening)

    def let_go_of_silent(self) -> None:
        """Close the sessions that ended without a report; the service handles their leases."""
        for holder in self._sessions.let_go_of_silent():
            with suppress(CommonholdError):  # an error must not keep the others open
                self._shell.over(holder)

    def close(self) -> None:
        """Close all sessions."""
        self._sessions.close()

    def _here(self, happening: Happening) -> Commonhold | None:
        """Return the session in the working tree in which the agent works; None outside of one."""
        root = self._trees.around(happening.cwd)
        return self._sessions.session(root, happening.caller) if root else None

    def _session_began(self, happening: SessionBegan) -> Response:
        root = self._trees.around(happening.cwd)
        if root is None:
            return NOTHING
        session = self._sessions.begun(root, happening.caller)
        return Response(context=agent_messages.briefing(session.start_session(happening.caller.process), time.time()))

    def _subagent_began(self, happening: SubagentBegan) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        found = session.start_session(happening.caller.process)
        if happening.task:
            session.set_intent(in_utf8(happening.task))
        return Response(context=agent_messages.briefing(found, time.time()))

    def _prompt_given(self, happening: PromptGiven) -> Response:
        session = self._here(happening)
        if session is None:
            return NOTHING
        session.set_intent(in_utf8(happening.prompt))
        return Response(context=told(*(each.notice for each in session.news())))

    def _has_read(self, happening: HasRead) -> Response:
        """Record it, and report other changes now: the agent's own tool may refuse the next edit before it asks us."""
        sessions = self._noted(happening)
        return Response(context=told(*(each.notice for session in sessions for each in session.news())))

    def _noted(self, happening: HasRead) -> Sequence[Commonhold]:
        sessions: dict[Commonhold, None] = {}
        for path in happening.paths:
            with suppress(InputError):  # a folder, or a file that is too large to be edited
                place = self._trees.place(path, happening.cwd)
                if place and not self._is_ignored(*place):
                    session = self._sessions.session(place[0], happening.caller)
                    session.record_read(str(file_key(place[1])), shown=in_utf8(happening.shown))
                    sessions[session] = None
        return list(sessions)

    def _about_to_edit(self, happening: AboutToEdit) -> Response:
        if happening.trouble:
            return Response(Stance.DENY, agent_messages.unsaid(happening.trouble))
        happening = replace(happening, wishes=self._meant(happening))
        if inner := [path for path in is_about(happening.wishes) if self._trees.is_in_state(path, happening.cwd)]:
            return Response(Stance.DENY, agent_messages.reserved(inner))
        contexts: list[str] = []
        with ExitStack() as begun:
            # All sessions take the trees in one order, so that no two of them wait for each other.
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
                    begun.callback(session.finish_proposal, happening.call, is_about(concerned))
            begun.pop_all()  # otherwise the tool will write nothing, in any tree
        return Response(context=told(*contexts))

    def _meant(self, happening: AboutToEdit | Edited) -> tuple[IntendedWrite, ...]:
        """Return the intended writes of a tool; of guessed ones only those that name a file."""
        if not happening.is_guess:
            return happening.wishes
        return tuple(filter(None, (self._trees.meant(wish, happening.cwd) for wish in happening.wishes)))

    def _edited(self, happening: Edited) -> Response:
        reasons: list[str] = []
        contexts: list[str] = []
        for root, wishes in self._trees.sorted_by_tree(self._meant(happening), happening.cwd).items():
            session = self._sessions.session(root, happening.caller)
            paths = [path for wish in wishes for path in inside(wish)]
            answer = session.finish_proposal(
                happening.call, paths, unasked=None if happening.has_failed else _unsaid(happening)
            )
            reasons.append(agent_messages.taken(answer))
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
        response = self._over(happening, [happening.caller.holder], _end_turn)
        session = None if happening.caller.subagent or not happening.may_go_on else self._here(happening)
        tasks = session.offered_task().tasks if session else ()
        before = self._offered.setdefault(happening.caller.holder, set()) if tasks else set()
        if not tasks or tasks[0].record.id in before:
            return response
        before.add(tasks[0].record.id)
        return replace(response, reason=agent_messages.task_offered(tasks[0].record.task))

    def _session_ended(self, happening: SessionEnded) -> Response:
        """End the session and its subagents, whether those have reported their end or not."""
        holder = happening.caller.holder
        names = [holder, *self._sessions.parts_of(holder)]
        response = self._over(happening, names, _end_session)
        self._sessions.let_go(names)
        self._offered.pop(holder, None)
        return response

    def _over(
        self, happening: TurnEnded | SessionEnded, names: Sequence[str], end: Callable[[Commonhold], RecordAnswer]
    ) -> Response:
        """End their work in all trees where they are known to have worked; a new daemon knows only the present one."""
        for name in names:
            self._shell.over(name)
        known = [session for name in names for session in self._sessions.of(name)]
        here = self._here(happening)
        sessions = dict.fromkeys((*known, here) if here else known)
        response = Response(notice=told(*(agent_messages.taken(end(session)) for session in sessions)))
        for session in sessions:
            self._shell.free(session)
            session.close()  # only its channel: the next call opens it again, and often there is none
        return response


def _end_turn(session: Commonhold) -> RecordAnswer:
    """Release everything that a subagent held, since its session goes on."""
    around, _, part = session.holder.partition("/")
    return end_part(session, around) if part else session.end_turn()


def _end_session(session: Commonhold) -> RecordAnswer:
    answer = _end_turn(session)
    session.end_session()
    return answer


def _unsaid(happening: AboutToEdit | Edited) -> str:
    """Return an intent for an edit without a stated one."""
    return f"{happening.tool} by {happening.caller.agent}"
