"""Who attends to the agents of one repository: the parts put together."""

from commonhold.adapters.repository import Repository
from commonhold.adapters.trees import Trees
from commonhold.app.happenings import NOTHING, AboutToRun, Response
from commonhold.client.opening import open_session
from commonhold.client.session import Commonhold
from commonhold.server.attending import Attending


def attending(repository: Repository) -> Attending:
    """Attend to whoever works in a working tree of this repository."""
    return Attending(Trees(repository), _opened, lambda _root, _path: False, _unconfined)


def _opened(root: str, holder: str) -> Commonhold:
    return open_session(root, agent=holder, daemon=True)


def _unconfined(_happening: AboutToRun, _root: str, _session: Commonhold) -> Response:
    return NOTHING
