"""`python -m commonhold.session_host ROOT SESSION`: supervise a session that was claimed; without one, sweep."""

import os
import signal
import sys
from contextlib import nullcontext
from functools import partial
from typing import Final

from commonhold.client.opening import open_beside_daemon
from commonhold.config import load_settings
from commonhold.kernel.managed_session import SessionState
from commonhold.machine.log_output import log_to_standard_error
from commonhold.machine.logs import Log
from commonhold.machine.process_groups import environment_without_git
from commonhold.session_host.leftovers import Leftovers, end_session, guarded, sweep
from commonhold.session_host.session_files import SessionFiles
from commonhold.session_host.supervisor import Supervisor
from commonhold.session_host.worktrees import Worktrees
from commonhold.sessions.decide import ENGINE, supervisor_of
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository

_ASKED_TO_END: Final = 128 + signal.SIGTERM
_log: Final = Log(__name__)


def main(root: str, session: str = "") -> int:
    """Do it; return an exit status."""
    repository, settings = find_repository(root), load_settings(root)
    log_to_standard_error(settings.log, "")
    files = SessionFiles.of(repository, settings)
    git = Git(repository.root)
    worktrees = Worktrees(git, files)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_ASKED_TO_END))
    guard = guarded(partial(end_session, files, session)) if session else nullcontext()
    with guard, open_beside_daemon(root, supervisor_of(session) if session else ENGINE) as hold:
        if not session:
            cleared = sweep(hold, Leftovers(worktrees, files, environment_without_git()))
            _log.info("sweep ended", cleared=cleared)
            return 0
        (view,) = hold.managed_sessions(session).sessions
        if view.record.state is not SessionState.RUNNING:
            _log.warning("session is not running", session=session, state=view.record.state)
            return 1
        Supervisor(hold, git, worktrees, files, settings, repository.state_folder).supervise(view.record)
    return 0


if __name__ == "__main__":
    os.chdir("/")
    sys.exit(main(*sys.argv[1:]))
