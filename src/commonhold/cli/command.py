"""A command that shows by example how it is called."""

import os
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from commonhold.domain.errors import Code, UsageError


def files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    return [CompletionItem(incomplete, type="file")]


def folders(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder."""
    return [CompletionItem(incomplete, type="dir")]


def _about_file(fault: click.NoSuchOption, words: Sequence[str], context: click.Context) -> Exception:
    """The complaint; about a file whose name looks like an option, with the way to name it."""
    name = next((word for word in words if word.startswith(fault.option_name) and os.path.lexists(word)), None)
    if name is not None:
        return UsageError(Code.USAGE, f"{name!r} is read as options", hint=f"for the file, write ./{name}")
    fault.ctx = fault.ctx or context
    return fault


class _WithExamples(click.Command):
    """Anything with examples below its help."""

    def __init__(self, *parts: Any, examples: Sequence[str], **named: Any) -> None:  # noqa: ANN401 - click's own parts
        """Take `examples`, lines ready to be typed, beside what click takes."""
        super().__init__(*parts, **named)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; a complaint about them says which command it is about."""
        words = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            raise _about_file(fault, words, ctx) from fault
        except click.UsageError as fault:
            fault.ctx = fault.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click calls it
        """Add the examples, as they are."""
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Command(_WithExamples):
    """A command with examples."""


class Group(_WithExamples, click.Group):
    """A group with examples."""
