"""`commonhold help`: the help of a command, or a page of the documentation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

import commonhold
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.output import answer
from commonhold.kernel.errors import Code, InputError, UsageError

_PACKAGE: Final = Path(commonhold.__file__).parent
_FOLDERS: Final = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")
"""Where the pages are: in an installed package, and in a checkout of the repository."""


def pages() -> dict[str, Path]:
    """Return the pages of the documentation, by the names of their topics."""
    folder = next((each for each in _FOLDERS if (each / "reference.md").is_file()), None)
    return {each.stem: each for each in sorted(folder.glob("*.md"))} if folder else {}


def _names(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a command or a topic."""
    root = context.find_root()
    commands = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    return [CompletionItem(each) for each in dict.fromkeys((*commands, *pages())) if each.startswith(incomplete)]


@click.command(
    "help", cls=Command, examples=("commonhold help task claim", "commonhold help runs", "commonhold help docs/mcp.md")
)
@click.argument("words", metavar="[COMMAND|TOPIC]...", nargs=-1, shell_complete=_names)
@common
@click.pass_obj
@click.pass_context
def command(context: click.Context, given: Given, words: tuple[str, ...]) -> None:
    """Show the help of a command, or a page of the documentation.

    The TOPICs are the pages: agents, git, merging, runs, tasks, reference and more; `commonhold help` lists all. A name
    that is a command and a page is the command: docs/NAME.md is the page.
    """
    root = context.find_root()
    found = _help_of(root, words)
    if found is None:
        found = _page(words, root).read_text(encoding="utf-8").rstrip("\n")
    elif words and " ".join(words) in pages():
        found += f"\n\nMore:\n  commonhold help docs/{words[0]}.md"
    elif not words:
        found += f"\n\nTopics of `commonhold help TOPIC`:\n{click.wrap_text(', '.join(pages()), 76, '  ', '  ')}"
    answer(given, found, lambda text: {"help": " ".join(words), "text": text}, str.splitlines)


def _help_of(root: click.Context, words: Sequence[str]) -> str | None:
    """Return the help of the command with these words; None if there is none."""
    context = root
    for word in words:
        found = context.command.get_command(context, word) if isinstance(context.command, click.Group) else None
        if found is None:
            return None
        context = click.Context(found, parent=context, info_name=word)
    return context.get_help()


def _page(words: Sequence[str], root: click.Context) -> Path:
    """Return the file of a page. Raises UsageError for an unknown name, InputError if the pages are not there."""
    known = pages()
    if not known:
        raise InputError(
            Code.FILE_NOT_FOUND,
            "the pages of the documentation were not installed with this program",
            hint="`commonhold --help` and `commonhold COMMAND --help` need none",
        )
    asked = " ".join(words)
    page = known.get(asked.removeprefix("docs/").removesuffix(".md"))
    if page is not None:
        return page
    # Loaded here: usually the name is right.
    from difflib import get_close_matches  # noqa: PLC0415

    commands = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    names = list(dict.fromkeys((*commands, *known)))
    near = " or ".join(f"`commonhold help {each}`" for each in get_close_matches(asked, names, n=2))
    listed = "`commonhold help` lists the commands and topics"
    raise UsageError(
        Code.USAGE, f"there is no command or topic {asked!r}", hint=f"did you mean {near}? {listed}" if near else listed
    )
