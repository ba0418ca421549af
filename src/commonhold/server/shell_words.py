"""What is told of a shell command: why it was not run, and what became of what it wrote."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.app.answers import AcquireAnswer, TakeAnswer
from commonhold.app.giving import ROOT, Given, Withheld
from commonhold.domain.texts import listed, quoted, short_name

_MOST: Final = 5
_NOT_RUN: Final = 126
"""From here on an exit status says that a command was not found, or ended by a signal: no bounds make it so."""


def some(paths: Sequence[str]) -> str:
    """Paths in a line; of many the first."""
    return listed([path or "./" for path in paths], _MOST)


def held_by_others(answer: AcquireAnswer) -> str:
    """Why a command is not run that would write what others hold."""
    held = dict.fromkeys((each.key.removeprefix("file:"), each.holder, each.task) for each in answer.conflicts)
    what = "; ".join(f"{path} is held by {_who(holder, task)}" for path, holder, task in list(held)[:_MOST])
    return (
        f"the command was not run: it would write what others are at work on. {what}.\n"
        "Next: do something else first, or change your part of the file with your edit tool, which may share a file."
    )


def beside_others(withheld: Withheld) -> str:
    """Why a command is not run that would write where others are at work, so that it cannot be kept from theirs."""
    because = withheld.because
    if withheld.path == ROOT:
        return (
            "the command was not run: it may write anywhere in the working tree, and in that "
            f"{because.path or './'} is held by {_who(because.holder, because.task)}.\n"
            "Next: do something else first, or do it in a working tree of your own: git worktree add --detach ../NAME"
        )
    return (
        f"the command was not run: it writes {withheld.path}, and beside it {because.path or './'} is held "
        f"by {_who(because.holder, because.task)}.\n"
        "Next: write it with your edit tool, which is kept from nothing but the file, or do something else first."
    )


def _who(holder: str, task: str) -> str:
    name = short_name(holder)
    return f"{name} ({quoted(task)})" if task else name


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: its exit status, what was taken into the log, and what could not be."""

    holder: str
    status: int
    taken: TakeAnswer
    shared: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def report(outcome: Outcome, given: Given | None) -> str:
    """What its agent must know of it; nothing where all is as it should be. `given`: what it was kept to."""
    taken = outcome.taken
    lines = [*taken.notices]
    if taken.outcome == "unadmitted":
        lines.append(f"what the command wrote is recorded, but would have been refused ({taken.code}): {taken.why}")
        lines.append(f"it is left as it is, and waits for review. Next: commonhold review show {taken.review}")
    if unknown := (*taken.unknown, *outcome.unread):
        lines.append(f"not recorded, since too large, not kept from before, or now reached by a link: {some(unknown)}")
    if outcome.shared:
        lines.append(
            f"other commands ran that could have written it, too, so it is laid on nobody: {some(outcome.shared)}"
        )
    if 0 < outcome.status < _NOT_RUN and given is not None:
        acquire = f"commonhold acquire PATH --agent {shlex.quote(outcome.holder)}"
        lines.append(bounds(given, f"{acquire}, or use your edit tool"))
    return "\n".join(filter(None, lines))


def bounds(given: Given, remedy: str) -> str:
    """Where a command could write that may have failed because of it; empty where it could write all."""
    if ROOT in given.writable:
        return ""
    where = (
        f"it could write in {some(given.writable)}" if given.writable else "it could write no file of this repository"
    )
    if given.withheld:
        return f"{where}; not in {_because(given.withheld[0])}. Next: change files there with your edit tool"
    return f"{where}. If that is why it failed, next: {remedy}"


def _because(withheld: Withheld) -> str:
    because = withheld.because
    return f"{withheld.folder or './'}, where {because.path or './'} is held by {_who(because.holder, because.task)}"
