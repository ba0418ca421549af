"""`commonhold version-of`: the version of a key, or the hashes of a region and its file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonhold.commits.key_version import KeyVersion


@click.command(
    "version-of",
    cls=Command,
    examples=("commonhold version-of account:12345", "commonhold version-of src/prices.py#total --json"),
)
@click.argument("key", metavar="KEY", shell_complete=files)
@common
@click.pass_obj
def command(given: Given, key: str) -> None:
    """Print the version of KEY, without its content and without a record that it was read.

    For a name such as account:12345: the number of its value's version, for `put --expect` (0: never set). For a file
    or a region of one: its hash, the base for a commit, and the hash of the whole file.
    """
    with opened(given) as place:
        found = place.hold.key_version(place.key(key))
    answer(given, found, asdict, _lines)


def _lines(found: KeyVersion) -> Iterator[str]:
    key = shown(found.key)
    if found.hash is None:
        yield f"{key}  version {found.version}"
        return
    yield f"{key}  hash {found.hash}"
    if found.file_hash != found.hash:
        yield f"{'its file':<{len(key)}}  hash {found.file_hash}"
