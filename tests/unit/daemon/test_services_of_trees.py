"""Which services a daemon sweeps with."""

from pathlib import Path

from tests.e2e.cli_driver import make_repository

import commonhold
from commonhold.adapters.repository import find_repository
from commonhold.adapters.sqlite import SqliteStore
from commonhold.server.daemon.services import Services
from commonhold.wire.calls import PROTOCOL, Hello


def test_a_working_tree_is_swept_in_nobodys_name(tmp_path: Path) -> None:
    """A sweep in an agent's name would be a sign of life of it."""
    root = str(make_repository(tmp_path / "work"))
    found = find_repository(root)
    services = Services(found, SqliteStore(found.state_folder, synchronous="OFF"))
    greetings = [Hello(PROTOCOL, commonhold.__version__, root, agent, 0o022) for agent in ("ann", None, "bob")]
    _, of_nobody, _ = [services.service(each) for each in greetings]
    assert services.of_trees() == [of_nobody]
    services.keep(())
    of_nobody.close()
