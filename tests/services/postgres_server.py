"""A private PostgreSQL, and databases in it."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote
from uuid import uuid4

import psycopg
from tests.services.processes import LOOPBACK, Process, ServerFailedError, as_account, free_port, make_folder
from tests.services.programs import find_or_install

USER: Final = "commonhold"

# A killed server loses nothing that it wrote to the system; that power may fail is not tested with this server.
SETTINGS: Final = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": LOOPBACK,
    "max_connections": "200",
    "shared_buffers": "32MB",
}


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a PostgreSQL listens."""

    port: int
    socket_folder: str

    def url(self, database: str = "postgres") -> str:
        """The URL of a database by TCP."""
        return f"postgresql://{USER}@{LOOPBACK}:{self.port}/{database}"

    def socket_url(self, database: str = "postgres") -> str:
        """The URL of a database by the Unix socket."""
        return f"postgresql://{USER}@{quote(self.socket_folder, safe='')}:{self.port}/{database}"


@dataclass(frozen=True, slots=True)
class Database:
    """A database of one test's own. Advisory locks, too, are each database's own."""

    name: str
    url: str
    socket_url: str


@contextmanager
def new_database(address: PostgresAddress) -> Iterator[Database]:
    """Make a database; drop it in the end, whoever is still connected."""
    name = f"test_{uuid4().hex}"
    _execute(address, f"CREATE DATABASE {name}")
    try:
        yield Database(name, address.url(name), address.socket_url(name))
    finally:
        _execute(address, f"DROP DATABASE {name} WITH (FORCE)")


def _execute(address: PostgresAddress, statement: str) -> None:
    with psycopg.connect(address.url(), autocommit=True) as connection:
        connection.execute(statement.encode())


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A PostgreSQL that this test run started. A port and data outlive a stop, until it is discarded."""

    address: PostgresAddress
    process: Process
    program: Path

    @classmethod
    def create(cls, kept_for: tuple[int, ...], *, is_shared: bool = False) -> Self:
        """Make an empty one, not started yet, that ends when any of those it is kept for ends."""
        initdb = find_or_install("initdb").resolve()
        folder = make_folder("postgres")
        _initialise(initdb, folder)
        process = Process(folder, signal.SIGQUIT, kept_for, is_shared)
        return cls(PostgresAddress(free_port(), str(folder)), process, initdb.with_name("postgres"))

    @property
    def url(self) -> str:
        """The URL of the database that is always there."""
        return self.address.url()

    def start(self) -> None:
        """Start it and wait until it answers."""
        folder = self.process.folder
        settings = {**SETTINGS, "port": str(self.address.port), "unix_socket_directories": str(folder)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.process.start([str(self.program), "-D", str(folder / "data"), *options], self._answers)

    def stop(self) -> None:
        """Stop it in good order: its clients are disconnected, what they had not committed is undone."""
        self.process.end(signal.SIGINT)

    def restart(self) -> None:
        """Stop it and start it again, on the same port and with the same data."""
        self.stop()
        self.start()

    def crash(self) -> None:
        """Stop it at once, so that the next start has to recover."""
        self.process.end(signal.SIGQUIT)

    def discard(self) -> None:
        """Stop it and remove its data."""
        self.process.discard()

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _initialise(initdb: Path, folder: Path) -> None:
    options = ["--no-sync", "--auth=trust", f"--username={USER}", "--encoding=UTF8", "--no-locale"]
    result = subprocess.run(
        [str(initdb), *options, "-D", str(folder / "data")],
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **as_account(),
    )
    if result.returncode != 0:
        raise ServerFailedError(f"initdb failed: {result.stdout[-2000:]}")
