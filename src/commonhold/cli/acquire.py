"""`commonhold acquire`: lease keys; wait for them; run a command while they are held."""

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Final, TypedDict, Unpack

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids, lease_words
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, request_option, ttl_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import announced, answer, is_terminal, send, shown, shown_text, some
from commonhold.config import load_settings
from commonhold.kernel.errors import Code, RefusedError, UsageError
from commonhold.kernel.lease import MAX_SLOTS
from commonhold.kernel.modes import Mode
from commonhold.machine.system import RandomIds

_MARK: Final = "--"


class _Wish(TypedDict):
    task: str
    mode: str
    ttl_seconds: float | None
    wait_seconds: float
    patience_seconds: float | None
    ticket: str | None
    replaces: str | None
    slots: int | None
    acquisition_id: str | None
    request_id: str | None


class _Acquire(Command):
    """A command with another one after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words before `--`; those after it are the command to run."""
        size = args.index(_MARK) if _MARK in args else len(args)
        ctx.params["run_words"] = words = tuple(args[size + 1 :])
        if size < len(args) and not words:
            raise UsageError(Code.USAGE, "no command follows --", hint="write it after --, or leave -- out")
        return super().parse_args(ctx, args[:size])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The arguments, in order."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


@click.command(
    "acquire",
    cls=_Acquire,
    examples=(
        'commonhold acquire src/prices.py#total --task "round to cents"',
        "commonhold acquire src/billing/ account:12345 --ttl 600 --wait 60",
        "commonhold acquire --wait 30 migrations/ -- python3 migrate.py",
        "commonhold acquire --slots 4 --wait 60 gpu:box -- python3 train.py",
        "commonhold acquire --once --wait 600 migration:42 -- python3 migrate.py 42",
    ),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, shell_complete=files)
@click.option("--task", metavar="TEXT", default="", help="The purpose, which other agents see.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.EXCLUSIVE.value,
    show_default=True,
    help="shared: several may hold it, and no one may change it. upgradable: beside shared ones, but only one; "
    "for who may write later (--replace).",
)
@ttl_option
@click.option(
    *("--wait", "wait_seconds"),
    metavar="SECONDS",
    type=click.FloatRange(0, 30 * 86400),
    default=0.0,
    help="Wait in line so long for keys that others hold.",
)
@click.option("--queue", is_flag=True, help="Take a place in line and answer at once; ask again with its --ticket.")
@click.option("--ticket", metavar="ID", help="The place in line that you have already.")
@click.option(
    *("--patience", "patience_seconds"),
    metavar="SECONDS",
    type=float,
    help="How long a place in line lasts without being asked for; default: the settings.",
)
@click.option("--replace", "replaces", metavar="LEASE", help="A lease of yours that ends with the grant: an upgrade.")
@click.option(
    "--slots",
    metavar="N",
    type=click.IntRange(1, MAX_SLOTS),
    help="Take one of N slots of the one KEY: so many leases of it may exist at once, those of one holder too.",
)
@click.option(
    *("--once", "is_once"),
    is_flag=True,
    help="For work on the one KEY that is done once for all: one at a time may do it, and later ones get its result.",
)
@click.option("--acquisition-id", metavar="ID", help="A name of your own for this acquisition, kept with the lease.")
@request_option
@common
@click.pass_obj
def command(
    given: Given,
    keys: tuple[str, ...],
    *,
    queue: bool,
    is_once: bool,
    run_words: tuple[str, ...],
    **wish: Unpack[_Wish],
) -> int:
    """Lease all KEYs, or none if another holds any of them.

    The answer has the lease's id and fence (name them in a commit as ID:FENCE) and the hash of each region. A key
    that is not there yet is reserved. The lease ends by `release`, or when its time is over (30 minutes, unless
    --ttl or the settings say otherwise); every call that you make is a sign of life, and lets it last on.

    The exit code is 0 only if the lease is granted: a place in line is none yet.

    With a COMMAND, it is run while the keys are held, with COMMONHOLD_LEASE, COMMONHOLD_FENCE and COMMONHOLD_AGENT
    in its environment; the exit code is its own. Should the lease be lost meanwhile, the command is ended (SIGTERM,
    10 seconds later SIGKILL), and the exit code is 1. COMMONHOLD_SLOT is the number of a slot, from 1 to N.

    With --once and a COMMAND, its standard output is the result if it ends with 0 (up to 65,536 characters);
    if not, the work is left to the next. If the work is done already, the command is not run: its result
    is printed, and the exit code is 0. Without a COMMAND, the exit code is 1 then, and `release --result TEXT` says
    that the work is done.
    """
    _check_combination(queue=queue, is_run=bool(run_words), wish=wish)
    with opened(given) as place:
        options = _options(place, queue=queue, wish=wish)
        if is_once:
            options["once"] = True
        if run_words:
            return _run(run_words, place, keys, options, given)
        if not wish["wait_seconds"]:
            # A caller with a ticket releases it itself: so Ctrl-C ends this at once, even if the state is locked.
            options.setdefault("ticket", RandomIds().new("lease"))
        with _announced(given, keys, wish["wait_seconds"]):
            found = place.hold.acquire(*place.keys(keys), **options)
    answer(given, found, shapes.acquire, lambda found: lease_words.acquired(found, given))
    return DONE if found.lease else REFUSED


def _run(words: tuple[str, ...], place: Place, keys: tuple[str, ...], options: dict[str, Any], given: Given) -> int:
    """Run a command while the keys are held; return its exit status."""
    # Loaded here: usually no command is run.
    from commonhold.cli.run_under_lease import check_command, run  # noqa: PLC0415

    check_command(words, given.folder)
    if "once" in options:
        return _run_once(words, place, keys, options, given)
    with (
        ExitStack() as after,
        _announced(given, keys, options["wait_seconds"]) as end_wait,
        place.hold.hold(*place.keys(keys), **options) as held,
    ):
        end_wait()
        return run(words, held, given, holder=place.hold.holder, after=after)


def _run_once(
    words: tuple[str, ...], place: Place, keys: tuple[str, ...], options: dict[str, Any], given: Given
) -> int:
    """Run a command whose output is the result of the work, or print the result that is there already."""
    from commonhold.cli.run_under_lease import Transcript, run  # noqa: PLC0415 - as above

    transcript = Transcript()
    try:
        with (
            ExitStack() as after,
            _announced(given, keys, options["wait_seconds"]) as end_wait,
            place.hold.hold(*place.keys(keys), **options) as held,
        ):
            end_wait()
            status = run(words, held, given, holder=place.hold.holder, after=after, transcript=transcript)
            if status == DONE:
                held.finish(transcript.text())
            return status
    except RefusedError as refused:
        if refused.code is not Code.ALREADY_DONE:
            raise
        result = str(refused.fields["result"])
        send((shown_text(result) if is_terminal() else result).encode())
        return DONE


def _announced(given: Given, keys: Sequence[str], seconds: float) -> AbstractContextManager[Callable[[], None]]:
    who = shlex.join(["commonhold", "who", keys[0], *given.words()])
    return announced(given, seconds, f"waiting for {some(keys)}, at most {seconds:g} s: {shown(who)} shows the holder")


def _check_combination(*, queue: bool, is_run: bool, wish: _Wish) -> None:
    if queue and (wish["wait_seconds"] or is_run):
        other = "--wait" if wish["wait_seconds"] else "a command to run"
        hint = "--queue answers at once, --wait when the keys are yours or the time is over: choose one"
        raise UsageError(Code.USAGE, f"--queue and {other} exclude each other", hint=hint)


def _options(place: Place, *, queue: bool, wish: _Wish) -> dict[str, Any]:
    """The given options, for `acquire` and `hold`; the others keep their defaults."""
    options: dict[str, Any] = {name: value for name, value in wish.items() if value is not None}
    options["mode"] = Mode(wish["mode"])
    for name in ("ticket", "replaces"):
        if typed := options.get(name):
            options[name] = ids.lease_id(place, typed)
    if queue or (wish["ticket"] and not wish["wait_seconds"]):
        options.setdefault("patience_seconds", load_settings(place.hold.root).patience_seconds)
    return options
