"""`commonhold run`: carry out plans with editors, and look at runs."""

import os
from difflib import get_close_matches
from typing import Final

import click

from commonhold.api.wire import run_shapes
from commonhold.cli import run_words
from commonhold.cli.command import Command, Group
from commonhold.cli.common_options import Given, common, note_option, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.cli.run_starting import start
from commonhold.kernel.run import RunMove

_VALUED: Final = frozenset({"-C", "--repo", "--agent", "--store"})
"""The common options that take a value."""


class _RunGroup(Group):
    """A group whose command `start` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; without the name of a command, or one like it, they are those of `start`."""
        first = self._first_word(args)
        is_misspelt = first is not None and not os.path.lexists(first) and get_close_matches(first, self.commands)
        if args and not {"-h", "--help"} & set(args[:1]) and first not in self.commands and not is_misspelt:
            args = ["start", *args]
        return super().parse_args(ctx, args)

    @staticmethod
    def _first_word(args: list[str]) -> str | None:
        """Return the first word that is no common option, nor its value."""
        words = iter(args)
        for word in words:
            if word in _VALUED:
                next(words, None)
            elif not word.startswith("-"):
                return word
            elif word not in ("--json", "--plain", "--verbose"):
                return None
        return None


@click.group(
    "run",
    cls=_RunGroup,
    examples=(
        "commonhold run plan.yaml --editors 3 --editor ./editor.py",
        "commonhold run --resume r12 --editor ./editor.py",
        "commonhold run show r12",
    ),
)
@common
def command() -> None:
    """Carry out a plan with several editors: `commonhold run PLAN` is short for `commonhold run start PLAN`.

    Each task becomes a work item. An editor makes a candidate for it, Commonhold commits or refuses it, a refusal
    becomes a new lock plan, and a validator runs the checks. All of it stands in the log, so that a run can be stopped,
    or killed, and resumed. `commonhold help runs` shows the requests to the commands of the roles, and their answers.
    """


@command.command("list", cls=Command, examples=("commonhold run list", "commonhold run list --all --json"))
@click.option("--all", "all_states", is_flag=True, help="Those that have completed or been cancelled, too.")
@common
@click.pass_obj
def _list(given: Given, *, all_states: bool) -> int:
    """List the runs that have not completed. One whose coordinator has died is shown as interrupted."""
    with opened(given) as place:
        found = place.hold.runs(all_states=all_states)
    answer(given, found, run_shapes.answer, lambda found: run_words.listed(found, is_all=all_states))
    return DONE


@command.command("show", cls=Command, examples=("commonhold run show r12", "commonhold run show r12 --json"))
@click.argument("run")
@common
@click.pass_obj
def _show(given: Given, run: str) -> int:
    """Show RUN with its items: the state of each, the reason why it waits, and its usage."""
    with opened(given) as place:
        found = place.hold.runs(run)
    answer(given, found, run_shapes.answer, lambda found: run_words.answer(found, given))
    return DONE


@command.command("cancel", cls=Command, examples=('commonhold run cancel r12 --note "the plan was wrong"',))
@click.argument("run")
@note_option("The reason, for the log.")
@request_option
@common
@click.pass_obj
def _cancel(given: Given, *, run: str, note: str, request_id: str | None) -> int:
    """Give RUN up: its claims are given back, and its tasks stay open.

    A coordinator that is still at work loses its lease, on the record, and ends.
    """
    with opened(given) as place:
        found = place.hold.end_run(run, RunMove.CANCEL, note=note, request_id=request_id)
    answer(given, found, run_shapes.answer, lambda found: run_words.answer(found, given))
    return REFUSED if found.code else DONE


command.add_command(start)
