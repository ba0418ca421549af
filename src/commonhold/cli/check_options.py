"""The options of commands that merge: a check that decides unproven cases."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click

from commonhold.merging.branches.candidate_verification import CHECK_SECONDS

C = TypeVar("C", bound=Callable[..., Any] | click.Command)

_OPTIONS: Final = (
    click.option(
        "--check",
        metavar="COMMAND",
        help="A shell command that fails where a merge is wrong, run in a copy of the project; {file} in it stands for "
        "the candidate file. Without it only proven merges are chosen.",
    ),
    click.option(
        *("--check-timeout", "seconds"),
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=CHECK_SECONDS,
        show_default=True,
        help="How long all that is tried may take.",
    ),
)

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Let a signal that ends this process also end the check that it runs."""
    heeded = [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, signal.default_int_handler) for each in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_options(command: C) -> C:
    """Give a command `--check` and `--check-timeout`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
