"""The parts of docs/reference.md that are made from the code. `python -m tests.docs.blocks` writes them anew."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from inspect import cleandoc
from pathlib import Path

import click

from commonhold.cli.commands import COMMANDS
from commonhold.cli.exit_status import MEANINGS
from commonhold.cli.explanations import ERRORS, REFUSALS, Explanation
from commonhold.cli.program import cli
from commonhold.config import Settings
from commonhold.domain.events import KINDS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"
BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
COMMON = ("folder", "agent", "store", "as_json", "help")
SETTINGS = {
    "ttl_seconds": "How long a lease lasts unless it says otherwise, in seconds; at most 30 days.",
    "max_file_bytes": "Larger files can be leased, but are not read or written.",
    "retention_days": "How long the bytes that were read or overwritten are kept. 0: until the next prune.",
    "patience_seconds": "How long a place in line from `acquire --queue` lasts without being asked for.",
    "store": "Where leases and values are kept: `sqlite:FOLDER`, `postgresql://HOST/DATABASE`, `redis://HOST`. Empty: "
    "beside the repository. Several machines that name the same share them.",
    "namespace": "The name that a shared store keeps this repository's leases under. Empty: that of its folder.",
    "daemon": "Whether one process serves the repository, started by itself on first use.",
    "durability": "`full`, or `normal`, to measure what full costs: after a loss of power the last grants may be gone "
    "then, and their fences given out again.",
    "policies": "A table of keys: `pessimistic` ones may be changed under an exclusive lease only; all others are "
    "`optimistic`. A key stands for all that is in it; the innermost decides.",
    "merge": "Whether an edit whose base has moved may be merged: `proven`, where that is shown to be right, or "
    "`never`; for all keys, or as a table by key.",
    "reads": "What becomes of new text that uses code whose body another changed since its author read it: `notice`, "
    "the author is told, or `check`, it is refused until it is read again; for all keys, or as a table by key.",
    "suspicion": "What becomes of a change that may concern others of whom only a name tells: `escalate`, whoever "
    "makes it leases them first, `tests`, the tests that it may concern decide, or `notice`, it is told; for all keys, "
    "or as a table by key.",
    "types": "`on`: type checkers that are found are asked what they newly say of a change, before it is made: ty for "
    "Python (`pip install 'commonhold[types]'`), TypeScript 7 for TypeScript and JavaScript (`tsc` on the PATH). "
    "`off`: none is asked.",
    "index": "`on`: ten seconds after its start the daemon has all files read by a process of the lowest priority, for "
    "at most ten minutes of one processor, so that the first `impact`, `check` or judgement across files finds them "
    "read. `off`: they are read when that is asked.",
    "tests": "The command that runs the tests that a change may concern, with `{tests}` for their files, in a copy of "
    "the working tree. A user chooses it, by `COMMONHOLD_TESTS`; no repository does.",
    "ignore": "Patterns, as in `.gitignore`, of paths that are nobody's concern: no hook, no watcher looks at them. "
    "The file `.commonholdignore` at the root holds more, and decides first; what neither names is ignored where git "
    "ignores it.",
    "writable": "Has no effect any more: agents' shell commands can write every folder.",
    "shell": "What becomes of agents' shell commands: `sandbox`, what others hold is read-only to them; `watch`, what "
    "they changed is looked at afterwards; `off`, nothing.",
    "when_down": "What hooks do with what nobody could judge, since no daemon answers: `block`, where the agent can be "
    "blocked, or `allow`, and say so.",
    "release": "How long what an agent's own tool edited stays leased to it: to the end of its `turn`, or of each "
    "`edit`.",
    "idle_seconds": "How long it stays leased, at most, after the agent's last sign of life.",
}


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
    own = [param.name or "" for param in command.params if param.name not in COMMON]
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


BLOCKS = {
    "commands": commands,
    "exit_codes": exit_codes,
    "errors": errors,
    "refusals": refusals,
    "events": events,
    "settings": settings,
}


def renewed(text: str) -> str:
    """The reference with all its blocks as the code has them now."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{chr(10).join(BLOCKS[match[2]]())}\n\n{match[3]}", text)


if __name__ == "__main__":
    REFERENCE.write_text(renewed(REFERENCE.read_text(encoding="utf-8")), encoding="utf-8")
