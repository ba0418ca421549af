"""A private PgBouncer in front of a PostgreSQL."""

import signal
from dataclasses import dataclass
from typing import Final, Self

import psycopg
from tests.services.postgres_server import USER, PostgresAddress
from tests.services.processes import LOOPBACK, Process, free_port, give, make_folder
from tests.services.programs import find_or_install

SETTINGS: Final = """\
[databases]
* = host={host} port={behind}

[pgbouncer]
listen_addr = {host}
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
"""


@dataclass(frozen=True, slots=True)
class Pooler:
    """A PgBouncer in transaction mode: two transactions of one client may run on two connections of the server.

    So nothing of a session survives a transaction: no session lock, no setting, and no prepared statement (psycopg:
    `prepare_threshold=None`).
    """

    port: int
    process: Process

    @classmethod
    def create(cls, address: PostgresAddress, kept_for: tuple[int, ...]) -> Self:
        """Make one, not started yet, in front of all databases of a server."""
        folder = make_folder("pooler")
        port = free_port()
        settings = SETTINGS.format(host=LOOPBACK, behind=address.port, port=port, folder=folder)
        for name, text in (("settings", settings), ("users", f'"{USER}" ""\n')):
            (folder / name).write_text(text, encoding="utf-8")
            give(folder / name)
        return cls(port, Process(folder, signal.SIGKILL, kept_for))

    def url(self, database: str = "postgres") -> str:
        """The URL of a database through the pooler."""
        return f"postgresql://{USER}@{LOOPBACK}:{self.port}/{database}"

    def start(self) -> None:
        """Start it and wait until it passes queries on."""
        command = [str(find_or_install("pgbouncer")), str(self.process.folder / "settings")]
        self.process.start(command, self._answers)

    def stop(self) -> None:
        """Stop it at once; its clients are disconnected."""
        self.process.end(signal.SIGKILL)  # it holds nothing that could be lost

    def restart(self) -> None:
        """Stop it and start it again on the same port."""
        self.stop()
        self.start()

    def discard(self) -> None:
        """Stop it and remove its folder."""
        self.process.discard()

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True
