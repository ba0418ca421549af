"""`commonhold check`: whether two branches would work together."""

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

import click

import commonhold
from commonhold.cli.check_options import ended_as_by_ctrl_c
from commonhold.cli.check_words import branches_checked, check_step
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.git_place import git_place
from commonhold.cli.index_place import index_of, progress_for
from commonhold.cli.output import answer
from commonhold.code.type_checkers import TypeChecker
from commonhold.config import load_settings
from commonhold.kernel.errors import Code, UsageError
from commonhold.merging.branches.candidate_verification import CHECK_SECONDS
from commonhold.merging.branches.check_branches import Checked, CheckWish, check_branches
from commonhold.merging.branches.verification import Check
from commonhold.typecheck import CopyCheckers
from commonhold.workspace.checks import TESTS, CommandCheck
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.scratch import TreeCopy


class _Wish(TypedDict):
    ours: str
    base: str | None
    tests: str | None
    seconds: float
    sarif: str | None


@click.command(
    "check",
    cls=Command,
    examples=(
        "commonhold check feature",
        "commonhold check feature --tests 'pytest -q {tests}'",
        "commonhold check HEAD --ours origin/main --sarif check.sarif",
    ),
)
@click.argument("revision", metavar="REV", required=False)
@click.option("--theirs", metavar="REV", hidden=True, help="The same as REV.")
@click.option("--ours", metavar="REV", default="HEAD", show_default=True, help="The other branch, tag or commit.")
@click.option("--base", metavar="REV", help="What both come from; default: their merge base.")
@click.option(
    "--tests",
    metavar="COMMAND",
    help="A shell command that decides suspected conflicts, run in a copy of the merged state; {tests} in it stands "
    "for the files of the impacted tests.",
)
@click.option(
    *("--tests-timeout", "seconds"),
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=CHECK_SECONDS,
    show_default=True,
    help="How long the tests may take.",
)
@click.option("--sarif", metavar="FILE", shell_complete=files, help="Also write the answer to FILE as SARIF 2.1.0.")
@common
@click.pass_obj
def command(given: Given, revision: str | None, theirs: str | None, **wish: Unpack[_Wish]) -> int:
    """Tell whether REV, a branch, tag or commit, and the current branch would work together, without merging them.

    They are merged in memory. Each thing that is broken in the merge, and on neither side alone, is reported with both
    places and its evidence: a contract (one side changed a definition that the other uses as before) or types, which
    refuse; or a suspicion (each side changed one of two pieces of code that depend on each other), which the tests
    decide, or you.
    Suspicions escalate: the exit code is 0 only if nothing is found, or if all that is suspected passes --tests.
    """
    other = revision or theirs
    if other is None or (revision and theirs):
        raise UsageError(Code.USAGE, "one branch, tag or commit is to be named", hint="commonhold check BRANCH")
    place = git_place(given)
    git = Git(place.root)
    with ended_as_by_ctrl_c(), index_of(given) as index:
        found = check_branches(GitHistory(git, place.git_dir), index, _wish(git, other, wish), progress_for(given))
    if wish["sarif"] is not None:
        _write_sarif(found, wish["sarif"])
    answer(given, found, _shape, branches_checked)
    return DONE if found.outcome == "admitted" else REFUSED


def _wish(git: Git, theirs: str, wish: _Wish) -> CheckWish:
    check_of = partial(_check_of, git, wish["tests"]) if wish["tests"] else None
    settings = load_settings(git.root)
    policies = settings.options().policies
    types_of = partial(_types_of, git) if settings.types == "on" else None
    return CheckWish(theirs, wish["ours"], wish["base"], check_of, wish["seconds"], policies, types_of)


def _types_of(git: Git, commit: str) -> TypeChecker:
    return CopyCheckers(TreeCopy(git, commit), git.root)


def _check_of(git: Git, tests: str, tree: str, paths: Sequence[str]) -> Check | None:
    """Return the check of the impacted tests; None if they are requested and there are none."""
    if TESTS in tests and not paths:
        return None
    return CommandCheck(tests.replace(TESTS, shlex.join(paths)), TreeCopy(git, tree), worktree=git.root)


def _write_sarif(found: Checked, target: str) -> None:
    # Loaded here: the output in words needs no JSON.
    from commonhold.api.wire.sarif import sarif  # noqa: PLC0415
    from commonhold.api.wire.text import dumps  # noqa: PLC0415

    Path(target).write_text(dumps(sarif(found, commonhold.__version__)) + "\n", encoding="utf-8")


def _shape(found: Checked) -> dict[str, object]:
    # Loaded here: the output in words needs no JSON.
    from commonhold.api.wire.check_shapes import checked  # noqa: PLC0415

    hint, step = check_step(found)
    return {**checked(found), "hint": hint or None, "next": step or None}
