"""Before the tests: `python -m tests.services` gets the servers and tools they need, or says what they do without."""

import sys

import click
from tests.services.programs import (
    PROGRAMS,
    InstallationFailedError,
    MissingProgramError,
    Program,
    can_install,
    in_ci,
    install,
    missing,
)


def main() -> int:
    """Install all that is missing in one go. The answer is 1 only where a missing program is a failure."""
    lacking = missing(PROGRAMS)
    if lacking and can_install():
        click.echo(f"Installing {_names(lacking)}")
        try:
            install(lacking)
        except InstallationFailedError as failure:
            click.echo(str(failure), err=True)
            return 1
        lacking = missing(PROGRAMS)
    for program in lacking:
        click.echo(f"Left out: {_why(program)}", err=True)
    return int(bool(lacking) and in_ci())


def _names(programs: list[Program]) -> str:
    return ", ".join(program.name for program in programs)


def _why(program: Program) -> str:
    return str(MissingProgramError(program, "what needs it is not tested", is_failure=False))


if __name__ == "__main__":
    sys.exit(main())
