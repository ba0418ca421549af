"""`commonhold restore`: a backup in the place of the state."""

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import agent_of
from commonhold.cli.output import answer, complain, shown
from commonhold.client.daemon import stop, wait_until_gone
from commonhold.kernel.errors import Code, UsageError
from commonhold.workspace.repository import find_repository

if TYPE_CHECKING:
    from commonhold.stores.sqlite.backup import Restored


@click.command("restore", cls=Command, examples=("commonhold restore shop.backup --yes",))
@click.argument("path", metavar="FILE", shell_complete=files)
@click.option("--yes", is_flag=True, help="Ask nothing.")
@common
@click.pass_obj
def command(given: Given, path: str, *, yes: bool) -> int:
    """Put the backup in FILE in the place of the state. No file of the working tree is changed.

    The daemon or server ends first. All leases of the backup are ended, since their keys may have been granted to
    others meanwhile, and fences go on above all earlier ones. The state before is kept beside it, with everything that
    agents have written since the backup. Open sessions are refused until they are begun again.
    """
    if not yes and not _is_confirmed(given):
        complain("nothing was changed")
        return REFUSED
    # Loaded here: a refusal needs no store.
    from commonhold.bootstrap import restore_state  # noqa: PLC0415
    from commonhold.stores.sqlite.backup import check_backup  # noqa: PLC0415

    check_backup(path)  # before a server ends for nothing
    repository = find_repository(start_of(given))
    pid = stop(repository)
    if pid is not None:
        wait_until_gone(repository, pid)
    restored = restore_state(repository, os.path.abspath(path), agent_of(given) or "restore")  # noqa: PTH100
    answer(given, restored, asdict, _described)
    return DONE


def _is_confirmed(given: Given) -> bool:
    if given.as_json or sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            Code.USAGE,
            "the state would be replaced, and there is no terminal to ask you at",
            hint="repeat the call with --yes",
        )
    return click.confirm("Replace the state, and end all leases?", default=False, err=True)


def _described(restored: "Restored") -> Iterator[str]:
    yield f"restored: the log up to event {restored.backup}"
    yield f"all leases are ended, and fences go on above {restored.newest}"
    if restored.kept:
        yield f"the state before is kept: {shown(restored.kept)}"
