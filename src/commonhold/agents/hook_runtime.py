"""The handlers for the agents of one repository, put together; those for git are made at its first call."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from commonhold.agents.hook_events import Happening, Response
from commonhold.agents.registry import AGENTS
from commonhold.agents.runtime.command_records import CommandRecords
from commonhold.agents.runtime.external_change_monitor import ExternalChangeMonitor
from commonhold.agents.runtime.hook_dispatch import HookDispatch
from commonhold.agents.runtime.idleness import idle_seconds
from commonhold.agents.runtime.offline_permits import OfflinePermits
from commonhold.agents.runtime.open_sessions import OpenSessions, Silence
from commonhold.agents.runtime.periodic_tasks import PeriodicTasks
from commonhold.agents.runtime.questions import GitBegins, GitEnds, Route, ShellBegins, ShellEnds
from commonhold.agents.runtime.shell_calls import ShellCalls
from commonhold.agents.runtime.shell_environment import with_our_command
from commonhold.agents.runtime.shells import Rules, Shells
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.agents.runtime.working_trees import Trees
from commonhold.agents.runtime.write_protection import Asked, Prepared
from commonhold.client.opening import FindChannel
from commonhold.client.session import Commonhold, ticks
from commonhold.config import load_settings
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.system import is_running
from commonhold.workspace.ignore import Ignoring
from commonhold.workspace.repository import Repository

if TYPE_CHECKING:
    from commonhold.agents.git.calls import GitCalls


class HookRuntime:
    """All parts between the routes of a repository and its service."""

    def __init__(self, repository: Repository, find_channel: FindChannel, under_way: UnderWay) -> None:
        """Serve the agents in all working trees of this repository, through channels from `find_channel`.

        Commands are `under_way` while they run.
        """
        ignoring = Ignoring(lambda root: load_settings(root).ignore)
        self._find_channel = find_channel
        self._state_folder = repository.state_folder
        self._is_ignored = ignoring.is_ignored
        self._making = threading.Lock()
        self._made: GitCalls | None = None
        rules = Rules(self._refused, self._prepared, self._overwritten)
        records = CommandRecords(repository.state_folder)
        self._shells = Shells(self._opened, rules, under_way=under_way, records=records)
        self._overseeing = ExternalChangeMonitor(self._opened, ignoring.is_ignored, self._shells.may_write)
        trees = Trees(repository)
        foretelling = OfflinePermits(repository.state_folder, _is_shut_off)
        self._shell_calls = ShellCalls(trees, self._shells, rules.refused, _is_wrapped, foretelling)
        silence = Silence(idle_seconds, ticks, is_running)
        sessions = OpenSessions(self._overseen, silence)
        self._attending = HookDispatch(trees, sessions, ignoring.is_ignored, self._shell_calls)
        self._rounds = PeriodicTasks(self._see_to)

    @property
    def routes(self) -> Mapping[str, Route]:
        """The routes for our own programs, by path."""
        return {
            "/shell/begin": Route(ShellBegins, self._shell_calls.begin),
            "/shell/end": Route(ShellEnds, self._shells.end),
            "/git": Route(GitBegins, self._git_begins),
            "/git/end": Route(GitEnds, self._git_ends),
        }

    @property
    def _git(self) -> GitCalls:
        with self._making:
            if self._made is None:
                # Loaded here, as below: an agent that calls neither git nor a command need not wait for this.
                from commonhold.agents.git.calls import GitCalls  # noqa: PLC0415

                self._made = GitCalls(self._state_folder, self._opened, self._shells.settle, self._is_ignored)
        return self._made

    def _git_begins(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._git.begin(told)

    def _git_ends(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._git.end(told)

    def attend(self, happening: Happening) -> Response:
        """Return the answer to the event that a hook reports."""
        self._look_at_shells()
        return self._attending.attend(happening)

    def _see_to(self) -> None:
        """Find sessions, commands and trees that ended without a report, even if no hook arrives."""
        self._look_at_shells()
        self._attending.let_go_of_silent()
        self._overseeing.look()
        if self._made is not None:
            self._made.look()

    def _look_at_shells(self) -> None:
        self._shells.reap()
        self._shell_calls.look()

    def _overseen(self, root: str, holder: str) -> Commonhold:
        """Open the session of an agent, in a working tree that is watched from now on."""
        self._shells.settle_restored(root)  # else these changes would be noticed as no session's
        if self._overseeing.begin(root):
            threading.Thread(target=self._look_ahead, args=(root,), name="commonhold-look-ahead", daemon=True).start()
        return self._opened(root, holder)

    def _opened(self, root: str, holder: str | None = None) -> Commonhold:
        """Open the session of a holder, or one without a holder."""
        root, channel = self._find_channel(root, holder)
        return Commonhold(channel, root=root, agent=holder)

    def _look_ahead(self, root: str) -> None:
        """Survey a working tree while the agent that came there thinks: its first command then waits less."""
        with suppress(CommonholdError), closing(self._opened(root)) as session:  # the first command then looks
            self._shells.surveyors.look_ahead(session)

    def _refused(self, asked: Asked, session: Commonhold) -> str:
        """Return why a command must not run; empty if it may."""
        judged = self._git.refusal(session.holder, asked.cwd, asked.command, has_stand_in=asked.has_stand_in)
        return judged or ""

    def _prepared(self, asked: Asked, session: Commonhold) -> Prepared:
        environment = self._git.environment(session.holder, asked.cwd)
        return Prepared(with_our_command(self._state_folder, session.holder, environment))

    def _overwritten(self, session: Commonhold, taken: RecordAnswer, head: str) -> tuple[str, ...]:
        """Tell the owners which uncommitted work a command replaced; return the notices for its own agent."""
        from commonhold.agents.git.overwrites import Overwrites  # noqa: PLC0415

        return Overwrites(self._is_ignored).told(session, taken, head)

    def close(self) -> None:
        """Close all that is open."""
        self._rounds.close()
        self._overseeing.close()
        self._attending.close()
        self._shells.close()
        if self._made is not None:
            self._made.close()


def _is_wrapped(agent: str, root: str) -> bool:
    return agent in AGENTS and AGENTS[agent].wraps_shells(root)


def _is_shut_off(agent: str, root: str) -> bool:
    return agent in AGENTS and AGENTS[agent].shuts_off_shells(root)
