"""A private Redis, which may follow another."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import redis
from tests.services.processes import LOOPBACK, Process, free_port, make_folder
from tests.services.programs import find_or_install

SETTINGS: Final = {
    "bind": LOOPBACK,
    "appendonly": "yes",
    "save": "",
    "repl-diskless-sync-delay": "0",  # a new replica is up at once
}


@dataclass(slots=True)
class RedisServer:
    """A Redis that this test run started, with an append-only file: what it answered survives its being killed.

    `follows` is the server that it is a replica of, if it is one.
    """

    port: int
    process: Process
    follows: "RedisServer | None" = None
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def create(
        cls, kept_for: tuple[int, ...], follows: "RedisServer | None" = None, options: Mapping[str, str] | None = None
    ) -> Self:
        """Make an empty one, not started yet; `options` are settings of redis.conf."""
        return cls(free_port(), Process(make_folder("redis"), signal.SIGKILL, kept_for), follows, options or {})

    @property
    def url(self) -> str:
        """Its URL by TCP."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    @property
    def socket(self) -> Path:
        """Its Unix socket."""
        return self.process.folder / "socket"

    @property
    def socket_url(self) -> str:
        """Its URL by the Unix socket."""
        return f"unix://{self.socket}?db=0"

    def start(self) -> None:
        """Start it with the data that it has, and wait until it answers and is up with the server it follows."""
        settings = {**SETTINGS, "port": str(self.port), "unixsocket": str(self.socket), **self.options}
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        following = ["--replicaof", LOOPBACK, str(self.follows.port)] if self.follows else []
        self.process.start([str(find_or_install("redis-server")), *words, *following], self._is_ready)

    def stop(self) -> None:
        """Stop it in good order."""
        self.process.end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop it by SIGKILL."""
        self.process.end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop it and start it again, on the same port and with the same data."""
        self.stop()
        self.start()

    def promote(self) -> None:
        """Make a replica a server of its own, as a failover does."""
        with self.client() as client:
            client.replicaof("NO", "ONE")
        self.follows = None

    def empty(self) -> None:
        """Remove all data and all scripts."""
        with self.client() as client:
            client.flushall()
            client.script_flush()

    def discard(self) -> None:
        """Stop it and remove its data."""
        self.process.discard()

    @contextmanager
    def client(self) -> Iterator[redis.Redis]:
        """Connect to it."""
        client = redis.Redis.from_url(self.url, decode_responses=True)
        try:
            yield client
        finally:
            client.close()

    def _is_ready(self) -> bool:
        try:
            with self.client() as client:
                role = client.info("replication")
        except redis.RedisError:
            return False
        return self.follows is None or role["master_link_status"] == "up"
