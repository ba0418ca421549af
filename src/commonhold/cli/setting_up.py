"""The report of an installation: the settings and files that were set, replaced or removed."""

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.agents.installing import FileChange
from commonhold.agents.marked_block import HASH, block_in
from commonhold.agents.setup import Setup
from commonhold.cli.common_options import Given
from commonhold.cli.output import answer, shown, shown_text
from commonhold.kernel.texts import counted
from commonhold.workspace.git.merge_driver_settings import Change

_SECRETS: Final = "/.env"
_TOKEN: Final = re.compile(r"(\bBearer )\w+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """All changes, made or planned, in git's settings and in files; the agents they are for; and notes about them.

    `root` is the working tree, `heading` stands above the changes; `is_diff`: the user wants to see every line.
    """

    settings: Sequence[Change] = ()
    files: Sequence[FileChange] = ()
    setups: Sequence[Setup] = ()
    notices: Sequence[str] = ()
    is_dry_run: bool = False
    root: str = ""
    heading: str = ""
    is_diff: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether all is as it should be already."""
        return not self.settings and not self.files


def tell(given: Given, outcome: Outcome) -> None:
    """Report the changes, made or planned."""
    answer(given, outcome, _shape, _lines)


def shown_changes(outcome: Outcome) -> Iterator[str]:
    """Yield the changes for a review before they are made: paths and counts, or every line."""
    yield outcome.heading
    if outcome.is_diff:
        for each in outcome.files:
            yield from _difference(each)
        yield from map(_change, outcome.settings)
        return
    rows = [(each.what, _named(each, outcome.root)) for each in outcome.files]
    if git := len(outcome.settings):
        rows.append((counted(git, "setting"), "of git, in this clone"))
    width = max(len(what) for what, _ in rows)
    yield from (f"  {what:<{width}}  {shown(where)}" for what, where in rows)
    yield "to see every line: repeat this with --diff"


def _named(change: FileChange, root: str) -> str:
    """Return the path, and whether the file is new or deleted."""
    path = change.path.removeprefix(f"{root}/")
    if change.before is None:
        return f"{path} (new)"
    return f"{path} (deleted)" if change.after is None else path


def _shape(outcome: Outcome) -> dict[str, object]:
    settings = [
        {"where": each.where, "name": each.name, "before": each.before, "after": each.after}
        for each in outcome.settings
    ]
    files = [
        {"where": "file", "name": each.path, "before": _open(each, each.before), "after": _open(each, each.after)}
        for each in outcome.files
    ]
    agents = [
        {"name": each.name, "level": each.level.value, "why": each.why, "next": each.next_step}
        for each in outcome.setups
    ]
    return {
        "outcome": "unchanged" if outcome.is_empty else "changed",
        "changes": settings + files,
        "agents": agents,
        "notices": list(outcome.notices),
        "dry_run": outcome.is_dry_run,
    }


def _lines(outcome: Outcome) -> Iterator[str]:
    if outcome.is_dry_run and not outcome.is_empty:
        yield from shown_changes(outcome)
    elif not outcome.is_dry_run:
        yield from (_written(each, outcome.root) for each in outcome.files)
        yield from map(_change, outcome.settings)
    for each in outcome.setups:
        yield f"{each.title} ({each.name}): {each.level.value}: {each.why}"
        if each.next_step:
            yield f"  next: {each.next_step}"
    yield from (f"notice: {shown(notice)}" for notice in outcome.notices)
    if outcome.is_empty and (outcome.setups or not outcome.notices):
        yield "nothing to change: all is as it should be"
    elif outcome.is_dry_run:
        yield "(dry run: nothing is changed)"


def _written(change: FileChange, root: str) -> str:
    name = shown(change.path.removeprefix(f"{root}/"))
    if change.after is None:
        return f"removed  {name}"
    return f"{'wrote   ' if change.before is None else 'changed '} {name}"


def _difference(change: FileChange) -> Iterator[str]:
    name = shown(change.path)
    old, new = (os.devnull if text is None else name for text in (change.before, change.after))
    before, after = ((_open(change, text) or "").splitlines() for text in (change.before, change.after))
    yield from map(shown_text, difflib.unified_diff(before, after, old, new, lineterm=""))


def _open(change: FileChange, text: str | None) -> str | None:
    """A file's text without secrets: neither the token of HTTP hooks nor values of a `.env` are shown."""
    if text and change.path.endswith(_SECRETS):
        return block_in(text, HASH)
    return text and _TOKEN.sub(r"\1…", text)


def _change(change: Change) -> str:
    where = f"{change.where}: {shown(change.name)}"
    if change.after is None:
        return f"removed  {where}"
    if change.where != "config":
        return f"added    {where}"
    return f"{'added   ' if change.before is None else 'replaced'} {where} = {shown(change.after)}"
