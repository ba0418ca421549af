"""The present version of a key, without its content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonhold.kernel.keys import FILE

if TYPE_CHECKING:
    from commonhold.leases.values import Values
    from commonhold.reads.reading import RegionReader


@dataclass(frozen=True, slots=True)
class KeyVersion:
    """The present version of a free key, or the present hashes of a file or region and of its whole file."""

    key: str
    version: int | None = None
    hash: str | None = None
    file_hash: str | None = None


def key_version(text: str, reading: RegionReader, values: Values) -> KeyVersion:
    """Return the version of a key in any form.

    Raises InputError `FILE_NOT_FOUND`, `NOT_A_FILE`, `REGION_UNKNOWN`, `REGION_AMBIGUOUS`.
    """
    key = reading.locate(text)
    if key.scheme != FILE:
        value = values.get(text)
        return KeyVersion(value.key, version=value.version)
    # Loaded here, with the parsers: a client of the daemon needs only the type of the answer.
    from commonhold.code.regions.find import find  # noqa: PLC0415

    source = reading.regions(text)
    region = find(source, key.names)
    return KeyVersion(str(region.key), hash=region.hash, file_hash=source.file.hash)
