"""`commonhold claim`: tasks shared by agents in separate clones, claimed through a git remote."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from commonhold.api.wire import claim_shapes
from commonhold.cli import claim_words
from commonhold.cli.command import Command, Group
from commonhold.cli.common_options import common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.git_place import git_place
from commonhold.cli.opening import agent_of
from commonhold.cli.output import answer, complain
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.texts import check_holder
from commonhold.machine.system import RandomIds, SystemClock
from commonhold.tasks.claim_files import MOST_TTL_SECONDS, TTL_SECONDS, is_name
from commonhold.tasks.claim_memory import ClaimMemory
from commonhold.tasks.claiming import Changed, Claims, Lost, NothingToClaim, Surroundings
from commonhold.tasks.claims_ref import DEFAULT_REF, GitClaims
from commonhold.workspace.git.process import Git

_BEATS_IN_A_TTL: Final = 3
_ORIGIN: Final = "origin"
_NAME: Final = f"{__name__}.remote"
_REF: Final = f"{__name__}.ref"
C = TypeVar("C", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Remote:
    """The remote and the ref of the claims: given to `claim`, or to its subcommand, which wins."""

    name: str
    ref: str

    @classmethod
    def of(cls, context: click.Context) -> "_Remote":
        return cls(context.meta.get(_NAME, _ORIGIN), context.meta.get(_REF, DEFAULT_REF))


def _remember(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[f"{__name__}.{parameter.name}"] = value


_OPTIONS: Final = (
    click.option(
        *("--git", "remote"),
        metavar="REMOTE",
        expose_value=False,
        callback=_remember,
        help="The git remote that all clones share.  [default: origin]",
    ),
    click.option(
        *("--ref", "ref"),
        metavar="REF",
        expose_value=False,
        callback=_remember,
        help=f"Where the claims are: a branch, as main, or a ref of their own.  [default: {DEFAULT_REF}]",
    ),
)


def _with_remote(command: C) -> C:
    """Give a command the options for the remote and the ref. It gets them by `_Remote.of`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_ttl_option = click.option(
    "--ttl",
    "ttl_seconds",
    metavar="SECONDS",
    type=click.FloatRange(1, MOST_TTL_SECONDS),
    default=TTL_SECONDS,
    show_default=True,
    help="Others may take the task over once they have seen no heartbeat for so long.",
)


@click.group(
    "claim",
    cls=Group,
    invoke_without_command=True,
    examples=(
        "commonhold claim --git origin",
        "commonhold claim --git origin --task fix-parser",
        "commonhold claim list --ref main",
    ),
)
@_with_remote
@click.option("--task", metavar="TASK", help="Claim this task; default: the best one that is free.")
@_ttl_option
@common
@click.pass_context
def command(context: click.Context, task: str | None, ttl_seconds: float) -> int:
    """Claim a task that agents in separate clones share, through git alone: exactly one of them gets it.

    A task is a file tasks/pending/TASK.yml (fields: title, needs, priority) in the repository. A claim is a file
    current_tasks/TASK.lock that is committed and pushed; your working tree and branches stay as they are. Shell scripts
    that add, commit and push such files by themselves take part.

    An agent that claims again gets its own task again. The exit code is 1 if no task is free.
    """
    if context.invoked_subcommand is not None:
        return DONE
    if task is not None:
        _check_name(task)
    with _claims(context) as claims:
        found = claims.claim(task, ttl_seconds)
    words = _repeated(context)
    answer(context.obj, found, claim_shapes.claimed, lambda found: claim_words.claimed(found, words))
    return REFUSED if isinstance(found, NothingToClaim) else DONE


@command.command("list", cls=Command, examples=("commonhold claim list --git origin",))
@_with_remote
@common
@click.pass_context
def _list(context: click.Context) -> int:
    """List the tasks and their claims."""
    with _claims(context, is_reader=True) as claims:
        found = claims.standings()
    answer(context.obj, found, claim_shapes.standings, claim_words.standings)
    return DONE


@command.command("beat", cls=Command, examples=("commonhold claim beat fix-parser --git origin",))
@click.argument("task")
@_with_remote
@common
@click.pass_context
def _beat(context: click.Context, task: str) -> int:
    """Show that your claim on TASK is alive: push a heartbeat. The exit code is 1 if it is no longer yours."""
    return _change(context, task, Claims.beat)


@command.command("release", cls=Command, examples=("commonhold claim release write-docs --git origin",))
@click.argument("task")
@_with_remote
@common
@click.pass_context
def _release(context: click.Context, task: str) -> int:
    """Give TASK back, not done, so that another agent can claim it."""
    return _change(context, task, Claims.release)


@command.command("done", cls=Command, examples=("commonhold claim done fix-parser --git origin",))
@click.argument("task")
@_with_remote
@common
@click.pass_context
def _done(context: click.Context, task: str) -> int:
    """Record that TASK is done. Push your work first: tasks that need this one can be claimed from now on."""
    return _change(context, task, Claims.complete)


@command.command("keep", cls=Command, examples=("commonhold claim keep fix-parser --git origin &",))
@click.argument("task")
@_with_remote
@common
@click.pass_context
def _keep(context: click.Context, task: str) -> int:
    """Push heartbeats for TASK, three in each time to live, until stopped or until the claim is no longer yours.

    Once the first was pushed, a remote that cannot be reached is tried again.
    """
    _check_name(task)
    has_begun = False
    while True:
        try:
            with _claims(context) as claims:
                found = claims.beat(task)
        except StoreError as fault:
            if not has_begun or fault.retry_after_seconds is None:
                raise
            complain(f"notice: {fault.message}; trying again every {fault.retry_after_seconds:g} s")
            time.sleep(fault.retry_after_seconds)
            continue
        if isinstance(found, Lost):
            return _told(context, found)
        has_begun = True
        complain(claim_words.changed(found, ()))
        time.sleep(found.lock.ttl_seconds / _BEATS_IN_A_TTL)


@command.command("log", cls=Command, examples=("commonhold claim log", "commonhold claim log fix-parser --limit 5"))
@click.argument("task", required=False)
@click.option("--limit", metavar="N", type=click.IntRange(min=1), default=50, show_default=True, help="How many.")
@_with_remote
@common
@click.pass_context
def _log(context: click.Context, task: str | None, limit: int) -> int:
    """Show the history of claims, newest first: each is a commit. TASK: of this task only."""
    if task is not None:
        _check_name(task)
    with _opened(context) as (ref, _):
        found = ref.log(task, limit)
    answer(context.obj, found, claim_words.log_shape, claim_words.log)
    return DONE


def _change(context: click.Context, task: str, call: Callable[[Claims, str], Changed | Lost]) -> int:
    _check_name(task)
    with _claims(context) as claims:
        found = call(claims, task)
    return _told(context, found)


def _told(context: click.Context, found: Changed | Lost) -> int:
    words = _repeated(context)
    answer(context.obj, found, claim_shapes.changed, lambda found: claim_words.changed(found, words))
    return REFUSED if isinstance(found, Lost) else DONE


@contextmanager
def _opened(context: click.Context) -> Iterator[tuple[GitClaims, ClaimMemory]]:
    """Yield the claims on the remote and this clone's memory of them; other processes of the clone wait meanwhile."""
    place, where = git_place(context.obj), _Remote.of(context)
    memory = ClaimMemory(place.state_folder, where.name, where.ref)
    ref = GitClaims(Git(place.root), where.name, where.ref)
    with memory.alone():
        yield ref, memory


@contextmanager
def _claims(context: click.Context, *, is_reader: bool = False) -> Iterator[Claims]:
    """Yield the same as the agent sees them. A reader needs no name."""
    agent = check_holder(agent_of(context.obj) or ("reader" if is_reader else ""))
    around = Surroundings(SystemClock().now, RandomIds().new, time.sleep, random.random, _written)
    with _opened(context) as (ref, memory):
        yield Claims(ref, memory, around, agent)


def _written(wall: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall))


def _repeated(context: click.Context) -> tuple[str, ...]:
    """Return the options that a follow-up command has to repeat."""
    where = _Remote.of(context)
    ref = () if where.ref == DEFAULT_REF else ("--ref", where.ref)
    return ("--git", where.name, *ref, *context.obj.words())


def _check_name(task: str) -> None:
    if not is_name(task):
        raise InputError(
            Code.TEXT_INVALID,
            f"{task!r} cannot be the name of a task",
            hint="a task's name has letters, digits, dots, dashes and underscores, at most 100",
            fields={"task": task},
        )
