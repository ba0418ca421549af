"""`commonhold queue run`: the process that lands the entries of one branch."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from commonhold.api.wire import entry_shapes
from commonhold.api.wire.text import dumps
from commonhold.cli import queue_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.git_place import git_place
from commonhold.cli.index_place import index_of
from commonhold.cli.output import complain, flush, say, send
from commonhold.kernel.entry import EntryRecord

if TYPE_CHECKING:
    from commonhold.client.session import Commonhold
    from commonhold.coordinator.queue_driver import MergeQueue

_DEADLINE: Final = "30m"
_MOST: Final = 100


class QueueWish(TypedDict):
    """The options of a queue as click gives them."""

    checks: tuple[str, ...]
    deadline: str
    batch: int
    remote: str
    is_parallel: bool


@click.command(
    "run",
    cls=Command,
    examples=("commonhold queue run --check 'pytest -q'", "commonhold queue run --onto release --until-empty"),
)
@click.option("--onto", metavar="BRANCH", default="", help="The branch to land on; default: main.")
@click.option("--check", "checks", metavar="COMMAND", multiple=True, help="Every batch must pass; may be repeated.")
@click.option("--deadline", metavar="DURATION", default=_DEADLINE, show_default=True, help="For each check.")
@click.option(
    "--batch",
    metavar="N",
    type=click.IntRange(1, _MOST),
    default=8,
    show_default=True,
    help="At most so many at a time.",
)
@click.option(
    *("--ttl", "ttl_seconds"),
    metavar="SECONDS",
    type=click.FloatRange(1, 3600),
    default=15.0,
    show_default=True,
    help="How long the lease on the queue outlives this process: another that stands by waits for its end.",
)
@click.option(
    "--push", "remote", metavar="REMOTE", default="", help="The branch of this git remote counts: it moves first."
)
@click.option(
    "--parallel", "is_parallel", is_flag=True, help="After a failure, test the first entry of a batch alone beside it."
)
@click.option("--until-empty", is_flag=True, help="End when no entry is left that can go on.")
@common
@click.pass_obj
def run(given: Given, *, onto: str, ttl_seconds: float, until_empty: bool, **wish: Unpack[QueueWish]) -> int:
    """Land the entries of the queue: merge a batch on the present head, check it, move the branch to that tree.

    Checks run in a fresh copy of the combined tree. A batch that fails is halved until the culprit is found. Without
    any check, only merges that are proven land. With --parallel, the checks may run twice at the same time, and every
    build after a failure lands or returns an entry. With --push, the branch of the remote moves by compare-and-swap,
    and the local one follows it; commits that others push are built upon. Several processes may run one queue: one
    works, the others stand by. Each step is a line, with --json an object. Ctrl-C ends it: nothing is lost, and the
    next runner goes on. With --until-empty, the exit code is 1 if entries are left that are held up.
    """
    from commonhold.client.opening import open_session  # noqa: PLC0415 - only what runs a queue needs it
    from commonhold.machine.system import RandomIds  # noqa: PLC0415

    # A name of its own: leases of one session do not exclude each other.
    with open_session(start_of(given), agent=RandomIds().new("queue"), store=given.store) as hold:
        queue = merge_queue(given, hold, onto, ttl_seconds, partial(_show, given), wish)
        if not wish["checks"]:
            complain("notice: without --check, a merge that is proven lands untested unless its entry names a check")
        with _stopped_by_signals(queue.stop):
            left = queue.run(until_empty=until_empty)
    return REFUSED if left else DONE


def merge_queue(
    given: Given,
    hold: Commonhold,
    onto: str,
    ttl_seconds: float,
    show: Callable[[tuple[EntryRecord, ...]], None],
    wish: QueueWish,
    *,
    is_quiet: bool = False,
) -> MergeQueue:
    """Return the runner of the queue of the branch `onto` (empty: main), which acts as `hold`.

    `show` is called with the entries after each of their steps; one that `is_quiet` does not say that it waits for
    entries. Raises UsageError, InputError `REPOSITORY_PLAIN`.
    """
    # Loaded here: the other commands of this group merge nothing.
    from commonhold.cli.instant_input import seconds_of  # noqa: PLC0415
    from commonhold.config import load_settings  # noqa: PLC0415
    from commonhold.coordinator.checks import TreeChecks  # noqa: PLC0415
    from commonhold.coordinator.integration import GitBranch  # noqa: PLC0415
    from commonhold.coordinator.merge_queue import QueueRunner  # noqa: PLC0415
    from commonhold.coordinator.queue_driver import MergeQueue  # noqa: PLC0415
    from commonhold.workspace.git.process import Git  # noqa: PLC0415
    from commonhold.workspace.git.reachability import GitRevisions  # noqa: PLC0415
    from commonhold.workspace.git.remote_branch import RemoteBranch  # noqa: PLC0415

    seconds = seconds_of("--deadline", wish["deadline"])
    place = git_place(given)
    git = Git(place.root)
    revisions = GitRevisions(git)
    ref = revisions.branch_ref(onto or revisions.main_branch())
    origin = RemoteBranch(git, wish["remote"], ref) if wish["remote"] else None
    branch = GitBranch(git, place.git_dir, ref, load_settings(place.root), partial(index_of, given), origin)
    tests = TreeChecks(place.root, wish["checks"], seconds)
    runner = partial(QueueRunner, branch=branch, checks=tests, most=wish["batch"], is_parallel=wish["is_parallel"])
    return MergeQueue(hold, ref, runner, ttl_seconds=ttl_seconds, show=show, say=complain, is_quiet=is_quiet)


def _show(given: Given, records: tuple[EntryRecord, ...]) -> None:
    if given.as_json:
        send("".join(dumps(entry_shapes.entry(each), indent=0) + "\n" for each in records).encode())
    else:
        say(map(queue_words.step, records))
    flush()


@contextmanager
def _stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the queue in order; a second Ctrl-C ends it at once."""

    def end(number: int, _: object) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
