"""`commonhold queue check`: which branches are likely to conflict, before any of them is merged."""

import click

from commonhold.api.wire import entry_shapes
from commonhold.cli import queue_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.git_place import git_place
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "check", cls=Command, examples=("commonhold queue check", "commonhold queue check feature --onto release --json")
)
@click.argument("branches", metavar="[BRANCH]...", nargs=-1)
@click.option("--onto", metavar="BRANCH", default="", help="Where they are to land; default: main.")
@common
@click.pass_obj
def check(given: Given, branches: tuple[str, ...], onto: str) -> int:
    """Tell which branches touch the same regions, among the entries of the queue and the BRANCHes.

    Without a BRANCH: all local branches that are not merged, also those still in progress. Nothing is merged, so two
    changes of one function are reported even if they fit. The exit code is 1 if there are any.
    """
    # Loaded here: the other commands of this group compare no files.
    from commonhold.coordinator.integration import touched  # noqa: PLC0415
    from commonhold.landing.order import predicted  # noqa: PLC0415
    from commonhold.workspace.git.history import GitHistory  # noqa: PLC0415
    from commonhold.workspace.git.process import Git  # noqa: PLC0415
    from commonhold.workspace.git.reachability import GitRevisions  # noqa: PLC0415

    place = git_place(given)
    git = Git(place.root)
    revisions, history = GitRevisions(git), GitHistory(git, place.git_dir)
    ref = revisions.branch_ref(onto or revisions.main_branch())
    head = revisions.commit_of(ref)
    with opened(given) as session:
        entries = session.hold.entries(onto=ref).entries
    commits = {each.record.entry.branch: each.record.entry.commit for each in entries}
    for branch in branches or revisions.unmerged(ref):
        commits.setdefault(branch, revisions.commit_of(branch))
    found = predicted({branch: touched(history, commit, head) for branch, commit in commits.items()})
    answer(given, found, entry_shapes.predictions, queue_words.predictions)
    return REFUSED if found else DONE
