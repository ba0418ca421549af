"""`commonhold daemon`: look after the process that serves the repository."""

from typing import Final

import click

from commonhold.adapters.repository import Repository, find_repository
from commonhold.cli.command import Command, Group
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.given import Given, common, start_of
from commonhold.cli.output import say, send_json
from commonhold.client import daemon
from commonhold.domain.errors import Code, StoreError

_EXAMPLES: Final = ("commonhold daemon status", "commonhold daemon stop")


@click.group("daemon", cls=Group, examples=_EXAMPLES)
def command() -> None:
    """Look after the daemon: one process that serves a repository, so that many agents share each flush of the disk.

    It is started by itself on first use, keeps nothing that is not on the disk, and ends when nobody needs it: after
    five idle minutes without a lease or anybody in line. Without it every command does its own work.
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
    if daemon.pid_of(repository) is None:
        daemon.start(repository)
        if not daemon.wait_until(repository, is_there=True):
            raise _failed("start", "see daemon.log in the state folder (`commonhold doctor` says where that is)")
    return _tell(given, daemon.pid_of(repository))


@command.command("stop", cls=Command, examples=("commonhold daemon stop",))
@common
@click.pass_obj
def stop(given: Given) -> int:
    """Stop the daemon, and wait until it has ended. Leases stay; what is under way is finished first."""
    repository = _repository(given)
    stopped = daemon.stop(repository)
    if stopped is not None and not daemon.wait_until(repository, is_there=False):
        raise _failed("stop", "it may be in the middle of a large commit, or suspended: wait, then repeat")
    if stopped is not None and not given.as_json:
        say(f"stopped the daemon, process {stopped}")
    else:
        _tell(given, None)
    return DONE


def _repository(given: Given) -> Repository:
    return find_repository(start_of(given))


def _tell(given: Given, pid: int | None) -> int:
    if given.as_json:
        send_json({"running": pid is not None, "pid": pid})
    else:
        say("no daemon is running" if pid is None else f"a daemon is running: process {pid}")
    return REFUSED if pid is None else DONE


def _failed(what: str, hint: str) -> StoreError:
    return StoreError(
        Code.STORE_BUSY, f"the daemon did not {what} within 15 seconds", hint=hint, retry_after_seconds=5.0
    )
