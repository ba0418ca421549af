"""Shell calls of agents: refuse one beforehand if the reason is known then, and attribute it when its shell comes.

A command is never rewritten: the agent's program would check the new text against the rules of its user, and let
through commands that they forbid.
"""

import re
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from commonhold.agents.hook_events import NOTHING, AboutToRun, Ran, Response, Stance
from commonhold.agents.runtime.offline_permits import OfflinePermits
from commonhold.agents.runtime.pending_shell_calls import PendingShellCalls, command_in
from commonhold.agents.runtime.shells import Shells
from commonhold.agents.runtime.working_trees import Trees
from commonhold.agents.runtime.write_protection import Asked, Shape
from commonhold.client.hook_client import agent_process
from commonhold.client.session import Commonhold
from commonhold.config import Shell, load_settings
from commonhold.kernel.errors import CommonholdError

Refused = Callable[[Asked, Commonhold], str]
IsWrapped = Callable[[str, str], bool]
"""Whether an agent starts our launcher in place of a shell, in the working tree at a root."""
_PROCESS: Final = re.compile(r"\d+")


class ShellCalls:
    """The shell calls in the working trees of a repository."""

    def __init__(
        self, trees: Trees, shells: Shells, refused: Refused, is_wrapped: IsWrapped, foretelling: OfflinePermits
    ) -> None:
        """Report calls to `shells`; `refused` returns why a command must not run (empty: it may)."""
        self._trees = trees
        self._shells = shells
        self._refused = refused
        self._is_wrapped = is_wrapped
        self._foretelling = foretelling
        self._awaited = PendingShellCalls()
        self._tickets: dict[tuple[str, str], str] = {}
        self._reports: dict[tuple[str, str], str] = {}
        self._turn = threading.Lock()

    def about_to_run(self, happening: AboutToRun, root: str, session: Commonhold) -> Response:
        """Return the response to a command in the working tree at `root`."""
        agent = happening.caller.agent
        if self._foretelling.is_for(agent, root):
            refusal = self._foretold(happening)
        elif load_settings(root).shell == Shell.OFF or not happening.command.strip():
            return NOTHING
        elif self._is_wrapped(agent, root):
            asked = Asked(session.holder, happening.cwd, _words(happening), "", has_stand_in=True)
            refusal = self._refused(asked, session)
            self._awaited.note(happening)
        else:
            refusal = self._noted(happening, self._shells.watch(_question(happening)))
            if not happening.call:
                self._awaited.note(happening)
        return Response(Stance.DENY, refusal) if refusal else NOTHING

    def _foretold(self, happening: AboutToRun) -> str:
        """Answer a command's launcher before it asks, since it may be unable to; return why the command must not run.

        Nothing can be mounted in the launcher's sandbox, so the command is watched.
        """
        refusal = self._noted(happening, self._shells.watch(_question(happening)))
        if not refusal:
            self._foretelling.leave(*_name(happening), happening.command)
        return refusal

    def _noted(self, happening: AboutToRun, answer: Mapping[str, Any]) -> str:
        """Remember the ticket of a watched call, if it has one; return why the call must not run."""
        if ticket := answer.get("ticket"):
            with self._turn:
                before = self._tickets.pop(_name(happening), "")
                self._tickets[_name(happening)] = str(ticket)
            self._shells.abandon(before)
        return str(answer.get("refusal", ""))

    def ran(self, happening: Ran) -> str:
        """Return the report about an ended command for its agent; empty if there is none."""
        name = _name(happening)
        report = self._shells.ended(self._taken(name))
        return self._reports.pop(name, report)

    def look(self) -> None:
        """End the commands that are over and whose launcher cannot report that.

        No hook reports the end of a command in the background, either.
        """
        restored = self._shells.calls_restored()
        with self._turn:
            self._tickets = tickets = {**restored, **self._tickets}
        for name, ticket in tickets.items():
            if self._foretelling.is_over(*name):
                with suppress(CommonholdError):  # the hook that causes this look is not at fault
                    self._reports.setdefault(name, self._shells.ended(ticket))
            else:
                self._foretelling.is_begun(*name)  # remembers that it waits: it is over once it no longer does

    def _taken(self, name: tuple[str, str]) -> str:
        self._foretelling.withdraw(*name)
        with self._turn:
            return self._tickets.pop(name, "")

    def over(self, holder: str) -> None:
        """End the watched commands of a session, or of a part of it: their user did not let them run, for example."""
        with self._turn:
            names = [name for name in self._tickets if name[0] == holder]
        for name in names:
            self._shells.abandon(self._taken(name))
            self._reports.pop(name, None)

    def free(self, session: Commonhold) -> None:
        """Free the leases for commands of a session that are no longer known."""
        self._shells.free(session)

    def begin(self, told: Mapping[str, Any]) -> Shape:
        """Answer a launcher. One that is started in place of a shell knows its working tree, and at most its session.

        If the call was watched until now, the launcher takes over.
        """
        if told.get("root"):
            told = {**told, "root": self._trees.around(str(told["cwd"])) or told["root"]}
            told = told if told.get("call") else self._claimed(told)
        self._shells.drop(self._taken((str(told.get("holder", "")), str(told.get("call", "")))))
        return self._shells.begin(told)

    def _claimed(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the question with the holder and the command that a hook has reported."""
        *start, given = told["command"]
        if parent := told.get("parent"):
            session = self._awaited.session_of(told.get("agent", ""), agent_process(int(parent)))
            holder, command = self._awaited.claim(session, str(given))
        else:
            holder, command = self._awaited.claim(told.get("holder", ""), command_in(str(given)))
        return {**told, "holder": holder, "command": [*start, command], "call": command}


def _question(happening: AboutToRun) -> Shape:
    """Return the question that a launcher of the command would ask."""
    process = _PROCESS.match(happening.caller.process)
    return {
        "holder": happening.caller.holder,
        "cwd": happening.cwd,
        "command": list(_words(happening)),
        "process": int(process[0]) if process else 0,
        "reported_as": _name(happening)[1],
    }


def _words(happening: AboutToRun) -> tuple[str, ...]:
    return shutil.which("bash") or "sh", "-c", happening.command


def _name(happening: AboutToRun | Ran) -> tuple[str, str]:
    """Return the name of a call at both its ends: its id, or the command if the program gives it no id."""
    return happening.caller.holder, happening.call or happening.command
