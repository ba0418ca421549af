"""What is run in place of a shell command that an agent is about to run: the same, through the launcher."""

import shlex
import shutil
from collections.abc import Callable, Sequence

from commonhold.adapters.daemon_place import http_address
from commonhold.adapters.repository import find_repository
from commonhold.app.happenings import NOTHING, AboutToRun, Response, Stance
from commonhold.client.launcher import launching
from commonhold.client.session import Commonhold
from commonhold.config import Shell, load_settings
from commonhold.server.shells import Asked

Refused = Callable[[Asked, Commonhold], str]


class Rewriting:
    """Answers what is about to be run: refused at once where that is known before, else rewritten, never approved."""

    def __init__(self, refused: Refused) -> None:
        """Ask `refused` why a command is not to be run (empty: it may be)."""
        self._refused = refused

    def __call__(self, happening: AboutToRun, root: str, session: Commonhold) -> Response:
        """What to say to a command in the working tree at `root`."""
        settings = load_settings(root)
        if settings.shell == Shell.OFF or not happening.command.strip():
            return NOTHING
        socket = http_address(find_repository(root).state_folder)
        if _is_launched(happening.command, launching(socket, session.holder, settings.when_down, ())):
            return NOTHING
        command = (shutil.which("bash") or "sh", "-c", happening.command)
        refusal = self._refused(Asked(session.holder, happening.cwd, command, ""), session)
        if refusal:
            return Response(Stance.DENY, refusal)
        return Response(command=shlex.join(launching(socket, session.holder, settings.when_down, command)))


def _is_launched(command: str, launcher: Sequence[str]) -> bool:
    """Whether it is the launcher already, and nothing else: two hooks may see one command, one after the other."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return words[: len(launcher)] == list(launcher) and shlex.join(words) == command
