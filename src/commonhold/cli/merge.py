"""`commonhold merge`: merge a branch into the current one, all of it or nothing."""

from functools import partial
from typing import TypedDict, Unpack

import click

from commonhold.cli.branch_words import branch_merged, branch_step
from commonhold.cli.check_options import check_options, ended_as_by_ctrl_c
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.git_place import git_place
from commonhold.cli.holders_of_files import OthersLeases
from commonhold.cli.index_place import index_of
from commonhold.cli.output import answer
from commonhold.cli.scratch import trial_of_tree
from commonhold.kernel.errors import Code, UsageError
from commonhold.merging.branches.candidate_verification import Trial
from commonhold.merging.branches.merge_branch import BranchMerge, BranchWish, Ending, merge_branch
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.process import Git


class _Wish(TypedDict):
    branch: str
    check: str | None
    seconds: float
    no_commit: bool
    dry_run: bool
    keep_conflicts: bool
    message: str | None


@click.command(
    "merge",
    cls=Command,
    examples=(
        "commonhold merge feature --dry-run",
        "commonhold merge feature --check 'pytest -q'",
    ),
)
@click.argument("branch", metavar="BRANCH")
@check_options
@click.option("-m", "--message", metavar="TEXT", help="The message of the merge; default: the one that git gives.")
@click.option("--no-commit", is_flag=True, help="Leave a merge that succeeds in the working tree, to be committed.")
@click.option(
    "--keep-conflicts", is_flag=True, help="Leave a merge that is refused in the working tree, with conflict markers."
)
@click.option("--dry-run", is_flag=True, help="Only show the outcome.")
@common
@click.pass_obj
def command(given: Given, **wish: Unpack[_Wish]) -> int:
    """Merge BRANCH into the current branch: all of it, or nothing.

    Git merges by lines; every file that both sides changed is then merged again, also where the lines did not conflict,
    since they may still make a broken program. A file without a proven merge is refused with the reasons, unless a
    candidate passes --check, which also has to pass for the whole. Nothing is changed before all is decided, and
    uncommitted work is never overwritten. No hooks are run.
    """
    place = git_place(given)
    git = Git(place.root)
    with ended_as_by_ctrl_c():
        history, leases = GitHistory(git, place.git_dir), OthersLeases(given, place)
        found = merge_branch(history, _wish(place.root, wish), leases, partial(index_of, given))
    answer(given, found, _shape, branch_merged)
    return REFUSED if found.outcome == "refused" else DONE


def _wish(root: str, wish: _Wish) -> BranchWish:
    check = wish["check"]
    trial_on = partial(_trial, root, check, wish["seconds"]) if check else None
    if wish["dry_run"] and (wish["no_commit"] or wish["keep_conflicts"]):
        raise UsageError(
            Code.USAGE, "--dry-run changes nothing, so it goes with no option that does", hint="leave one of them out"
        )
    ending = Ending.TELL if wish["dry_run"] else Ending.STAND if wish["no_commit"] else Ending.COMMIT
    return BranchWish(wish["branch"], trial_on, ending, wish["message"], wish["keep_conflicts"])


def _trial(root: str, command: str, seconds: float, tree: str) -> Trial:
    return trial_of_tree(root, tree, command, seconds)


def _shape(found: BranchMerge) -> dict[str, object]:
    # Loaded here: the output in words needs no JSON.
    from commonhold.api.wire.merge_shapes import branch_merge  # noqa: PLC0415

    hint, step = branch_step(found)
    return {**branch_merge(found), "hint": hint or None, "next": step or None}
