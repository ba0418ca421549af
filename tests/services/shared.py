"""One PostgreSQL and one Docker engine for all workers of a run: the first that needs it starts it, its end ends it."""

import fcntl
import json
from dataclasses import asdict
from pathlib import Path

from tests.services.docker_engine import DockerEngine
from tests.services.postgres_server import PostgresAddress, PostgresServer


def shared_postgres(folder: Path, controller: int) -> PostgresAddress:
    """Find the server that `folder` tells of, or start it. It ends when the process `controller` ends."""
    with (folder / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        record = folder / "postgres.json"
        if not record.exists():
            record.write_text(json.dumps(asdict(_start(controller))), encoding="utf-8")
        return PostgresAddress(**json.loads(record.read_text(encoding="utf-8")))


def _start(controller: int) -> PostgresAddress:
    server = PostgresServer.create((controller,), is_shared=True)
    server.start()
    return server.address


def shared_docker(folder: Path, controller: int) -> str:
    """Return the value of DOCKER_HOST for the engine that `folder` tells of, or start it, as root."""
    with (folder / "docker.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        record = folder / "docker.url"
        if not record.exists():
            engine = DockerEngine.shared((controller,))
            engine.start()
            record.write_text(engine.url, encoding="utf-8")
        return record.read_text(encoding="utf-8")
