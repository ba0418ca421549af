"""`python -m commonhold`: the same as the `commonhold` command."""

from commonhold.cli.main import run

run()
