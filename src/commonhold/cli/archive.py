"""`commonhold archive`: the project's notes, in sections: search, show, list, add, link."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import click

from commonhold.api.wire import archive_shapes, shapes
from commonhold.bootstrap import open_archive
from commonhold.cli import archive_words, verdict
from commonhold.cli.changeset_input import STDIN, read_stdin
from commonhold.cli.command import Command, Group, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer, shown
from commonhold.commits.project_notes import LINKS_KEY
from commonhold.config import load_settings
from commonhold.kernel import texts
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, InputError, StoreError, UsageError
from commonhold.kernel.keys import canonical
from commonhold.machine.system import SystemClock
from commonhold.tasks.archive import DEFAULT_BUDGET_TOKENS, Archive
from commonhold.tasks.linking import (
    NOTES_FOLDER,
    Links,
    new_note,
    note_name,
    read_links,
    with_links,
    without_links,
)
from commonhold.tasks.notes import KINDS, MOST_BYTES
from commonhold.workspace.repository import find_repository

_MOST_TRIES: Final = 20


@click.group(
    "archive",
    cls=Group,
    examples=(
        "commonhold archive search token expiry",
        "commonhold archive search --for src/billing.py#charge",
        "commonhold archive show docs/auth.md#2.1",
    ),
)
@common
def command() -> None:
    """Find and add to the project's notes: Markdown files that git does not ignore, in numbered sections.

    A section is named by its file and its number (`docs/auth.md#2.1`; 0 is the text before the first heading) or its
    anchor (`docs/auth.md#token-expiry`), which stays the same when sections are added.
    """


@command.command(
    "search",
    cls=Command,
    examples=("commonhold archive search token expiry", "commonhold archive search --for src/billing.py --budget 300"),
)
@click.argument("words", nargs=-1)
@click.option(
    *("--for", "keys"),
    metavar="KEY",
    multiple=True,
    shell_complete=files,
    help="Find sections that bear on KEY: linked to it, applying to it, or mentioning it; may be repeated.",
)
@click.option(
    *("--budget", "budget_tokens"),
    metavar="TOKENS",
    type=click.IntRange(1, 1_000_000),
    default=DEFAULT_BUDGET_TOKENS,
    show_default=True,
    help="With --for: quote about so many tokens at most.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 200), default=20, show_default=True, help="How many at most."
)
@common
@click.pass_obj
def _search(given: Given, words: tuple[str, ...], keys: tuple[str, ...], budget_tokens: int, limit: int) -> int:
    """Find sections by WORDS, or those that bear on keys; best first. The exit code is 1 if there are none."""
    if not words and not keys:
        raise UsageError(Code.USAGE, "there is nothing to search for", hint="give words, or a key with --for KEY")
    with opened(given) as place:
        archive = _archive(place)
        if keys:
            quotes = archive.relevant(place.keys(keys), " ".join(words), budget_tokens)
            answer(given, quotes, archive_shapes.quotes, archive_words.quotes)
            return DONE if quotes else REFUSED
        found = archive.search(" ".join(words), limit)
    answer(given, found, archive_shapes.found, archive_words.found)
    return DONE if found else REFUSED


@command.command("show", cls=Command, examples=("commonhold archive show docs/auth.md#2.1",))
@click.argument("section", metavar="SECTION")
@common
@click.pass_obj
def _show(given: Given, section: str) -> int:
    """Print SECTION and those below it, or a whole note. Names are relative to the root of the repository."""
    with opened(given) as place:
        found = _archive(place).show(section)
    answer(given, found, archive_shapes.sections, archive_words.sections)
    return DONE


@command.command("list", cls=Command, examples=("commonhold archive list", "commonhold archive list docs/auth.md"))
@click.argument("path", metavar="[NOTE]", required=False)
@common
@click.pass_obj
def _list(given: Given, path: str | None) -> int:
    """List the notes, with the reason for each that could not be read; or the sections of one."""
    with opened(given) as place:
        archive = _archive(place)
        if path is None:
            answer(given, archive.entries(), archive_shapes.entries, archive_words.entries)
        else:
            answer(given, archive.show(path), archive_shapes.sections, archive_words.headings)
    return DONE


@command.command(
    "add",
    cls=Command,
    examples=(
        'commonhold archive add decision "Amounts are integers" --text "Cents, never floats." --for src/billing.py',
        'commonhold archive add lesson "Migrations need --wait" --text - < lesson.txt',
    ),
)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("title")
@click.option("--text", required=True, metavar="TEXT", help="The text, in Markdown; - reads standard input.")
@click.option(
    *("--for", "keys"),
    metavar="KEY",
    multiple=True,
    shell_complete=files,
    help="A path, key or pattern that it applies to; may be repeated.",
)
@click.option("--folder", metavar="DIR", default=NOTES_FOLDER, show_default=True, help="Where to write it.")
@common
@click.pass_obj
def _add(given: Given, kind: str, title: str, text: str, keys: tuple[str, ...], folder: str) -> int:
    """Add a decision, lesson or note: a new file with the date and your name, committed as by `commonhold commit`."""
    texts.check_line(title, "title")
    if not title.strip():
        raise UsageError(Code.USAGE, "the title is empty", hint="give the decision or lesson in one line")
    if text == STDIN:
        text = _text_on_stdin()
    for key in keys:
        texts.check_line(key, "key")
    date = datetime.fromtimestamp(SystemClock().now().wall, UTC).date().isoformat()
    with opened(given) as place:
        body = new_note(kind, title.strip(), text, date=date, by=place.hold.holder, applies_to=keys)
        path = _free_path(place, folder.strip("/"), date, title)
        changeset = Changeset((Edit(Op.CREATE_FILE, path, text=body),), f"{kind}: {title}")
        found = place.hold.commit(changeset)
        if found.outcome == "refused":
            answer(given, found, shapes.commit, lambda found: verdict.committed(found, changeset, place, given))
            return REFUSED
    added = {"outcome": "added", "section": f"{path}#0", "path": path}
    answer(given, added, dict, lambda _: f"added: {shown(path)}")
    return DONE


def _text_on_stdin() -> str:
    """Return the text of a note. Raises InputError `FILE_TOO_LARGE` and `TEXT_INVALID`: no note is cut or altered."""
    content = read_stdin("the text of the note")
    if len(content) > MOST_BYTES:
        raise InputError(
            Code.FILE_TOO_LARGE,
            f"the text has {len(content):,} bytes, and a note has at most {MOST_BYTES:,}",
            hint="split it into several notes",
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as fault:
        where = f"the byte 0x{content[fault.start]:02x} at offset {fault.start:,}"
        raise _no_text(where) from fault
    if "\0" in text:
        raise _no_text("a null byte")
    return text


def _no_text(why: str) -> InputError:
    return InputError(
        Code.TEXT_INVALID, f"standard input is not a text in UTF-8: it has {why}", hint="give a note as Markdown"
    )


def _free_path(place: Place, folder: str, date: str, title: str) -> str:
    names = (note_name(date, title, number) for number in range(1, _MOST_TRIES + 1))
    paths = (f"{folder}/{name}" if folder else name for name in names)
    found = next((path for path in paths if not os.path.lexists(f"{place.hold.root}/{path}")), None)
    if found is None:
        raise UsageError(
            Code.USAGE, f"there are {_MOST_TRIES} notes of that title and day", hint="choose another title"
        )
    return found


@command.command(
    "link",
    cls=Command,
    examples=(
        "commonhold archive link docs/auth.md#2.1 src/auth.py#login account:*",
        "commonhold archive link docs/auth.md#2.1 src/auth.py#login --remove",
        "commonhold archive link",
    ),
)
@click.argument("section", metavar="[SECTION]", required=False)
@click.argument("keys", metavar="[KEY...]", nargs=-1, shell_complete=files)
@click.option("--remove", is_flag=True, help="Remove the links to these KEYs; without any, all of the section.")
@common
@click.pass_obj
def _link(given: Given, section: str | None, keys: tuple[str, ...], *, remove: bool) -> int:
    """Link SECTION, or a whole note, to KEYs: a search for one of them finds it first. Without SECTION, list all links.

    Links are kept with the leases, so that all that share them see them.
    """
    if section is not None and not keys and not remove:
        raise UsageError(Code.USAGE, "no key to link it to was given", hint="name paths, regions or other keys")
    with opened(given) as place:
        if section is None:
            links = read_links(place.hold.get(LINKS_KEY).text)
        else:
            name = section if remove else _stable_name(_archive(place), section)
            wanted = [str(canonical(key)) for key in place.keys(keys)]
            change = without_links if remove else with_links
            links = _Changed(place).links(lambda known: change(known, name, wanted))
    answer(given, links, archive_shapes.links, archive_words.links)
    return DONE


def _stable_name(archive: Archive, section: str) -> str:
    """Return the name of a section by its anchor, which stays the same when others are added. Raises as `show`."""
    found = archive.show(section)[0]
    return f"{found.path}#{found.anchor}" if "#" in section else found.path


@dataclass(frozen=True, slots=True)
class _Changed:
    """The links, changed by compare-and-swap."""

    place: Place

    def links(self, change: Callable[[Links], str]) -> Links:
        """Change the links until no other session was faster. Raises StoreError if the change is refused."""
        why = ""
        for _ in range(_MOST_TRIES):
            value = self.place.hold.get(LINKS_KEY)
            text = change(read_links(value.text))
            found = self.place.hold.put(LINKS_KEY, text, expected_version=value.version)
            if found.outcome == "stored":
                return read_links(text)
            why = found.why
        raise StoreError(
            Code.STORE_BUSY, f"the links could not be changed: {why}", hint="repeat the same call in a moment"
        )


def _archive(place: Place) -> Archive:
    root = place.hold.root
    return open_archive(find_repository(root), load_settings(root), lambda: read_links(place.hold.get(LINKS_KEY).text))
