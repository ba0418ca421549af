"""Type checkers: which are installed, and whether they run."""

import subprocess
from collections.abc import Iterator, Mapping
from typing import Final

from commonhold.diagnostics.finding import Finding, ok, warn
from commonhold.typecheck.server import Server
from commonhold.typecheck.server_programs import locate
from commonhold.typecheck.servers import SERVERS

_TIMEOUT_SECONDS: Final = 10.0


def type_checkers(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a check of each known type checker; a missing one is no problem."""
    return (_checker(server, environment) for server in SERVERS)


def _checker(server: Server, environment: Mapping[str, str]) -> Finding:
    program = locate(server, environment)
    files = ", ".join(server.languages)
    if program is None:
        newest = f" {server.since} or newer" if server.since else ""
        return ok(
            server.name, f"{server.program}{newest} not found: types in {files} are not compared ({server.install})"
        )
    version = _version(program, environment)
    if not version:
        return warn(server.name, f"{program} does not say its version", server.install, path=program)
    return ok(server.name, f"{version} at {program}: compares types in {files}", path=program, version=version)


def _version(program: str, environment: Mapping[str, str]) -> str:
    """Return the last word of the version that it reports; empty if it reports none."""
    try:
        done = subprocess.run(
            (program, "--version"),
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout.decode("utf-8", "replace").split() or [""])[-1]
