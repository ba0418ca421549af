"""The parts of the pages in docs/ that are made from the code. `make generate` writes them again."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from inspect import cleandoc
from pathlib import Path

import click
from tests.docs import sdk_calls

from commonhold.api.routes import PREFIX, ROUTES
from commonhold.api.wire import calls
from commonhold.cli.commands import COMMANDS
from commonhold.cli.exit_status import MEANINGS
from commonhold.cli.explanations import ERRORS, REFUSALS, Explanation
from commonhold.cli.program import cli
from commonhold.cli.setting_meanings import MEANINGS as SETTINGS
from commonhold.config import Settings
from commonhold.kernel.events import KINDS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"
PYTHON = REFERENCE.with_name("python.md")
SERVER = REFERENCE.with_name("server.md")
BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
COMMON = ("folder", "agent", "store", "as_json", "help")


def table(*rows: tuple[str, ...]) -> Iterator[str]:
    head, *body = rows
    yield row(head)
    yield row(tuple("---" for _ in head))
    yield from map(row, body)


def row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def commands() -> Iterator[str]:
    context = click.Context(cli, info_name="commonhold")
    yield "Options of every command that works on a repository; they may stand before or after its name:"
    yield ""
    yield from options(cli, only=COMMON[:-1])
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield from described(command, click.Context(command, parent=context, info_name=name))


def described(command: click.Command, context: click.Context) -> Iterator[str]:
    path, usage = context.command_path, " ".join(command.collect_usage_pieces(context))
    yield from ("", f"### {path}", "", f"`{path} {usage}`", "")
    yield cleandoc(command.help or "")
    yield from ("", "```", *command.examples, "```")  # type: ignore[attr-defined]
    shown = [param for param in command.params if not getattr(param, "hidden", False)]
    own = [param.name or "" for param in shown if param.name not in COMMON]
    if any(isinstance(param, click.Option) and param.name in own for param in command.params):
        yield ""
        yield from options(command, only=tuple(own))
    for name, part in command.commands.items() if isinstance(command, click.Group) else ():
        yield from described(part, click.Context(part, parent=context, info_name=name))


def options(command: click.Command, only: tuple[str, ...]) -> Iterator[str]:
    found = [each for each in command.params if isinstance(each, click.Option) and each.name in only]
    rows = [(f"`{', '.join(each.opts)}{metavar(each)}`", each.help or "") for each in found]
    yield from table(("option", "meaning"), *rows)


def metavar(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return " " + "|".join(option.type.choices)
    return f" {option.metavar}"


def exit_codes() -> Iterator[str]:
    yield from table(("exit code", "meaning"), *((str(code), meaning) for code, meaning in MEANINGS.items()))


def errors() -> Iterator[str]:
    yield from codes({code.value: each for code, each in ERRORS.items()})


def refusals() -> Iterator[str]:
    yield from codes({code.value: each for code, each in REFUSALS.items()})


def codes(explained: Mapping[str, Explanation]) -> Iterator[str]:
    yield from table(("code", "meaning", "what to do"), *((f"`{code}`", *each) for code, each in explained.items()))


def events() -> Iterator[str]:
    rows = (
        (f"`{kind}`", " ".join((event.__doc__ or "").split()), ", ".join(f"`{each.name}`" for each in fields(event)))
        for kind, event in KINDS.items()
    )
    yield from table(("kind", "meaning", "fields"), *rows)


def settings() -> Iterator[str]:
    rows = (
        (f"`{each.name}`", _default(getattr(Settings(), each.name)), SETTINGS[each.name]) for each in fields(Settings)
    )
    yield from table(("key", "default", "meaning"), *rows)


def _default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else str(value or "")


def calls_of_users() -> Iterator[str]:
    yield from table(*sdk_calls.of_users())


def calls_of_hooks() -> Iterator[str]:
    yield from table(*sdk_calls.of_hooks())


def http_routes() -> Iterator[str]:
    rows = []
    for name, route in ROUTES.items():
        path = route.path.removeprefix(PREFIX)
        given = [each for each in calls.described(name).fields if each not in route.parameters]
        shown = ", ".join(f"`{each}`" for each in given)
        rows.append((f"`{route.method} {path}`", f"`{name}`", shown, str(route.scope)))
    yield f"Paths are below `{PREFIX}`. Operations are described in [python.md](python.md)."
    yield ""
    yield from table(("request", "operation", "parameters", "scope"), *rows)


BLOCKS = {
    "commands": commands,
    "exit_codes": exit_codes,
    "errors": errors,
    "refusals": refusals,
    "events": events,
    "settings": settings,
    "sdk_calls": calls_of_users,
    "hook_calls": calls_of_hooks,
    "http_routes": http_routes,
}


def renewed(text: str) -> str:
    """A page with all its blocks as the code has them now."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{chr(10).join(BLOCKS[match[2]]())}\n\n{match[3]}", text)


if __name__ == "__main__":
    for page in (REFERENCE, PYTHON, SERVER):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
