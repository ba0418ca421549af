"""A command that shows by example how it is called."""

import os
import shlex
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from commonhold.kernel.errors import Code, UsageError

_WHOLE: Final = 1_000


def files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    return [CompletionItem(incomplete, type="file")]


def folders(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder."""
    return [CompletionItem(incomplete, type="dir")]


def _no_such_option(fault: click.NoSuchOption, words: Sequence[str], path: str) -> UsageError:
    """The complaint; about a file whose name looks like an option, with the way to name it."""
    name = next((word for word in words if word.startswith(fault.option_name) and os.path.lexists(word)), None)
    if name is not None:
        return UsageError(
            Code.USAGE, f"{name!r} is read as options", hint=f"for the file, write {shlex.quote(f'./{name}')}"
        )
    near = " or ".join((fault.possibilities or ())[:2])
    told = f"`{path} --help` lists the options"
    return UsageError(
        Code.USAGE,
        f"{path} has no option {fault.option_name}",
        hint=f"did you mean {near}? {told}" if near else told,
    )


def _no_such_command(name: str, near: Sequence[str], path: str) -> UsageError:
    """The complaint, with the commands that may have been meant."""
    told = f"`{path} --help` lists the commands"
    meant = " or ".join(f"`{path} {each}`" for each in near)
    return UsageError(
        Code.USAGE,
        f"{path} has no command {name!r}",
        hint=f"did you mean {meant}? {told}" if near else told,
    )


class _WithExamples(click.Command):
    """Anything with examples below its help."""

    def __init__(self, *parts: Any, examples: Sequence[str], **named: Any) -> None:  # noqa: ANN401 - click's own parts
        """Take `examples`, lines ready to be typed, in addition to click's arguments."""
        super().__init__(*parts, **named)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; a complaint about them says which command it is about."""
        words = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            raise _no_such_option(fault, words, ctx.command_path) from fault
        except click.UsageError as fault:
            fault.ctx = fault.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click calls it
        """Add the examples, as they are."""
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Parts(MutableMapping[str, click.Command]):
    """The commands of a group by name, of which `later` are loaded when they are first asked for.

    It maps their names to `module:attribute` in `commonhold.cli`: a look at a list must not load all that merges.
    """

    def __init__(self, later: Mapping[str, str]) -> None:
        """Begin with the commands that are loaded later."""
        self._later = later
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        """Return a command, and load it if that was not done yet."""
        if name not in self._loaded:
            module, _, attribute = self._later[name].partition(":")
            self._loaded[name] = getattr(import_module(f"commonhold.cli.{module}"), attribute)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Add a command that is loaded."""
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        """Remove a command that is loaded."""
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, and load nothing."""
        return iter([*(name for name in self._loaded if name not in self._later), *self._later])

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)


class Command(_WithExamples):
    """A command with examples."""


class Group(_WithExamples, click.Group):
    """A group with examples. Of a command that it does not have, it names those that may have been meant."""

    def meant(self, name: str) -> str | None:  # noqa: ARG002 - for groups that know
        """Return the command that has another name in other tools; None if there is none."""
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first sentence."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(_WHOLE)) for name, each in commands if each])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Raises UsageError if there is none of that name."""
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        # Loaded here: usually the name is right.
        from difflib import get_close_matches  # noqa: PLC0415

        meant = self.meant(name)
        near = [meant] if meant else get_close_matches(name, self.list_commands(ctx), n=2)
        raise _no_such_command(name, near, ctx.command_path)
