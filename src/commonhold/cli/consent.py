"""The changes of install and uninstall, and the consent of the user."""

import sys
from typing import Final

import click

from commonhold.agents.setup import Setup
from commonhold.agents.setups import SETUPS
from commonhold.cli.common_options import Given
from commonhold.cli.output import complain
from commonhold.cli.setting_up import Outcome, shown_changes
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.texts import counted

GIT: Final = "git"
ALL: Final = "all"

what_argument = click.argument("what", nargs=-1, type=click.Choice([*SETUPS, GIT, ALL]), metavar="[NAME]...")
yes_option = click.option("--yes", is_flag=True, help="Ask nothing.")
diff_option = click.option("--diff", is_flag=True, help="Show every line that changes.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show the changes.")


def named(what: tuple[str, ...]) -> tuple[Setup, ...]:
    """The agents that are named, each once."""
    names = SETUPS if ALL in what else dict.fromkeys(name for name in what if name != GIT)
    return tuple(SETUPS[name] for name in names)


def may_go_on(given: Given, outcome: Outcome, *, is_asked: bool) -> bool:
    """Whether to make the changes. Raises UsageError if consent is needed and there is no terminal to ask at."""
    if outcome.is_dry_run or outcome.is_empty:
        return False
    if not is_asked:
        return True
    if given.as_json or sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            Code.USAGE,
            f"{counted(len(outcome.files), 'file')} would change, and there is no terminal to ask you at",
            hint="look at it with --dry-run, then repeat the call with --yes",
        )
    complain(shown_changes(outcome))
    if click.confirm("Make these changes?", default=True, err=True):
        return True
    complain(["nothing was changed"])
    raise click.exceptions.Exit(1)
