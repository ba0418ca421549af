"""`commonhold daemon`: look after the process that serves the repository."""

import time
from typing import Final

import click

from commonhold.cli.command import Command, Group
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.output import say, send_json
from commonhold.client import daemon
from commonhold.config import is_masked
from commonhold.diagnostics.http import is_answered
from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace import daemon_files, loopback
from commonhold.workspace.loopback import MAX_PORT, Loopback
from commonhold.workspace.repository import Repository, find_repository

_EXAMPLES: Final = ("commonhold daemon status", "commonhold daemon stop", "commonhold daemon http")


@click.group("daemon", cls=Group, examples=_EXAMPLES)
def command() -> None:
    """Control the daemon: one process that serves a repository, so that many agents share each flush of the disk.

    It starts by itself on first use, and ends by itself after five idle minutes without a lease or anybody in line. It
    holds no state that is not on the disk. Without it every command does its own work.
    """


@command.command("status", cls=Command, examples=("commonhold daemon status",))
@common
@click.pass_obj
def status(given: Given) -> int:
    """Tell whether the daemon lives. Exit status 1 if it does not."""
    return _tell(given, daemon.pid_of(_repository(given)))


@command.command("start", cls=Command, examples=("commonhold daemon start",))
@common
@click.pass_obj
def start(given: Given) -> int:
    """Start the daemon, and wait until it serves. One that lives already is left as it is."""
    repository = _repository(given)
    _start(repository)
    return _tell(given, daemon.pid_of(repository))


@command.command("stop", cls=Command, examples=("commonhold daemon stop",))
@common
@click.pass_obj
def stop(given: Given) -> int:
    """Stop the daemon, and wait until it has ended. Leases stay; calls in progress are finished first."""
    stopped = _stop(_repository(given))
    if stopped is not None and not given.as_json:
        say(f"stopped the daemon, process {stopped}")
    else:
        _tell(given, None)
    return DONE


@command.command("http", cls=Command, examples=("commonhold daemon http", "commonhold daemon http --off"))
@click.option("--port", type=click.IntRange(1, MAX_PORT), help="The port; default: the one before, else a free one.")
@click.option("--off", is_flag=True, help="Serve there no more, and forget the token.")
@common
@click.pass_obj
def http(given: Given, port: int | None, *, off: bool) -> int:
    """Serve hooks and the Model Context Protocol on 127.0.0.1, too, for clients that speak HTTP.

    Clients must present the token that is printed; it stays the same as long as the port does. The daemon is
    started again, unless it is one that `commonhold serve` runs: that is refused.
    """
    repository = _repository(given)
    check_unserved(repository)
    if off:
        loopback.forget(repository.state_folder)
        chosen = None
    else:
        chosen = loopback.choose(repository.state_folder, port)
    _stop(repository)
    try:
        if chosen is not None:
            loopback.bind(chosen).close()  # a port in use is reported here; the daemon could only write to its log
    finally:
        _start(repository)
    if chosen is not None:
        _wait_for(chosen)
    _tell_where(given, chosen)
    return DONE


def _start(repository: Repository) -> None:
    if daemon.pid_of(repository) is None:
        check_not_masked()
        why = daemon.trouble_of(daemon.start(repository), repository)
        if why:
            hint = "`commonhold doctor` says how to repair it; daemon.log in the state folder has the details"
            raise StoreError(Code.STORE_BUSY, why, hint=hint, retry_after_seconds=5.0)


def check_not_masked() -> None:
    """Raise StoreError `STORE_READ_ONLY` in a shell command to which the files that others hold are read-only."""
    if is_masked():
        raise StoreError(
            Code.STORE_READ_ONLY,
            "a daemon that began in this shell command could not write the files that others hold, either",
            hint="go on: the next shell command or edit begins one; or run it in a terminal of your own",
        )


def check_unserved(repository: Repository) -> None:
    """Raise StoreError `STORE_OWNED` if a server runs already: its clients would lose it."""
    url = daemon_files.url(repository.state_folder)
    if url and daemon_files.is_running(repository.state_folder):
        raise StoreError(
            Code.STORE_OWNED,
            f"{repository.root} is served already at {url}, by process {daemon_files.pid(repository.state_folder)}",
            hint="use that server, or end it first: commonhold daemon stop",
            fields={"url": url},
        )


def _stop(repository: Repository) -> int | None:
    stopped = daemon.stop(repository)
    if stopped is not None and not daemon.wait_until_gone(repository, stopped):
        raise StoreError(
            Code.STORE_BUSY,
            "the daemon did not stop within 15 seconds",
            hint="it may be in the middle of a large commit, or suspended: wait, then repeat",
            retry_after_seconds=5.0,
        )
    return stopped


def _wait_for(chosen: Loopback) -> None:
    until = time.monotonic() + daemon.PATIENCE_SECONDS
    while not is_answered(chosen):
        if time.monotonic() > until:
            raise _taken(chosen)
        time.sleep(daemon.PAUSE_SECONDS)


def _tell_where(given: Given, chosen: Loopback | None) -> None:
    if given.as_json:
        told = None if chosen is None else {"url": chosen.url, "token": chosen.token, "mcp": f"{chosen.url}/mcp"}
        send_json({"http": told})
    elif chosen is None:
        say("the daemon is reached over its private sockets alone")
    else:
        say(f"MCP is served at {chosen.url}/mcp for clients that send the header Authorization: Bearer {chosen.token}")
        say(f"a client that sends no header: {chosen.secret_url}/mcp")


def _taken(chosen: Loopback) -> StoreError:
    return StoreError(
        Code.STORE_BUSY,
        f"the daemon does not answer at port {chosen.port}, which another program may have",
        hint="choose another: commonhold daemon http --port PORT",
        fields={"port": chosen.port},
    )


def _repository(given: Given) -> Repository:
    return find_repository(start_of(given))


def _tell(given: Given, pid: int | None) -> int:
    if given.as_json:
        send_json({"running": pid is not None, "pid": pid})
    else:
        say("no daemon is running" if pid is None else f"a daemon is running: process {pid}")
    return REFUSED if pid is None else DONE
