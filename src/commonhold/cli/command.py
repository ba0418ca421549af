"""A command that shows by example how it is called."""

from collections.abc import Sequence
from typing import Any

import click


class _WithExamples(click.Command):
    """Anything with examples below its help."""

    def __init__(self, *parts: Any, examples: Sequence[str], **named: Any) -> None:  # noqa: ANN401 - click's own parts
        """Take `examples`, lines ready to be typed, beside what click takes."""
        super().__init__(*parts, **named)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; a complaint about them says which command it is about."""
        try:
            return super().parse_args(ctx, args)
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
