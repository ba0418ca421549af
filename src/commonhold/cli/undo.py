"""`commonhold undo`: take back the work of one session."""

from collections.abc import Iterator

import click

from commonhold.api.wire import undo_shapes
from commonhold.cli import ids
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.describe import conflict, notices, quoted, short, who
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown, shown_text, some
from commonhold.commits.undo.answers import LaterWork, UndoAnswer, UndoneFile
from commonhold.kernel.texts import counted


@click.command(
    "undo",
    cls=Command,
    examples=(
        "commonhold undo claude:8c1f7a2e",
        "commonhold undo task:price --apply",
        "commonhold undo 12 --only src/prices.py",
    ),
)
@click.argument("what", metavar="SESSION|TASK|COMMIT")
@click.option("--apply", is_flag=True, help="Make the change; without it, it is only shown.")
@click.option(
    "--only", metavar="PATH", multiple=True, shell_complete=files, help="Only in this file; may be given several times."
)
@click.option("--intent", metavar="TEXT", default="", help="Why; default: the undone commits' intents.")
@request_option
@common
@click.pass_obj
def command(given: Given, what: str, *, apply: bool, only: tuple[str, ...], intent: str, request_id: str | None) -> int:
    """Take back the commits of a session, for a task (task:ID), or of one event, and nothing of others.

    A session's subagents are part of it, and so are changes by its tools and commands. First the change is shown as a
    diff; --apply makes it, as a commit that can be undone, too. What others have changed since is merged, or the undo
    is refused and names their work. The undo covers files, not the values of named keys.
    """
    with opened(given) as place:
        wanted = what if what.isdigit() or what.startswith("task:") else ids.past_holder(place, what)
        found = place.hold.undo(wanted, apply=apply, only=place.keys(only), intent=intent, request_id=request_id)
    answer(given, found, undo_shapes.undo, lambda found: _lines(found, given))
    return REFUSED if found.outcome == "refused" else DONE


def _lines(found: UndoAnswer, given: Given) -> Iterator[str]:
    match found.outcome:
        case "refused":
            yield f"refused [{found.code}]: {shown(found.why)}"
        case "nothing":
            yield f"nothing to undo: {shown(found.why)}"
        case "undone":
            yield f"undone: event {found.sequence}"
        case "shown":
            size = f"{counted(len(found.commits), 'commit')} in {counted(len(found.files), 'file')}"
            yield f"{size} would be undone; nothing was written"
    for each in found.commits:
        yield f"  event {each.sequence}  {who(each.holder)}  {some(each.keys, ' ')}{quoted(each.intent)}"
    for file in found.files:
        yield from _file(file)
    yield from _later(found)
    if found.commit is not None:
        yield from map(conflict, found.commit.conflicts)
        yield from notices(found.commit.notices)
    for way in found.ways:
        yield from next_lines(way, given)


def _file(file: UndoneFile) -> Iterator[str]:
    merged = "; merged with later changes" if file.is_merged else ""
    yield f"--- {shown(file.path)}  {_state(file.before)} -> {_state(file.after)}{merged}"
    yield shown_text(file.diff) if file.diff is not None else "binary, or the same text"


def _state(content_hash: str | None) -> str:
    return short(content_hash) if content_hash else "(not there)"


def _later(found: UndoAnswer) -> Iterator[str]:
    if found.files or found.unmerged:
        yield "---"
    for each in found.later:
        yield _work(each)
    for unmerged in found.unmerged:
        yield from (f"not merged [{each.reason}]: {shown(each.why)}" for each in unmerged.obstacles)
        if unmerged.marked is not None:
            yield f"--- {shown(unmerged.key)}: both changes, as far as they go together"
            yield shown_text(unmerged.marked).removesuffix("\n")
            yield "---"


def _work(later: LaterWork) -> str:
    event = f" event {later.sequence}" if later.sequence is not None else ""
    by = f"  {who(later.holder)}{event}{quoted(later.intent)}" if later.holder else ""
    return f"  {shown(later.key)}{by}: {shown(later.why)}"
