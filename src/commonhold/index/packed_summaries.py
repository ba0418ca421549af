"""The stored form of a summary: its bytes, and the numbers of its names."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import msgspec

from commonhold.code.analysis.repository.summary import Summary
from commonhold.machine.decoding import from_msgpack

_ENCODER: Final = msgspec.msgpack.Encoder()
# The names of the fields stand before every value: the fastest level takes nine tenths away, and more is not worth it.
_LEVEL: Final = 1
_NUMBER_BYTES: Final = 8
_NO_TEXT: Final = "it holds a string that is no Unicode text"


@dataclass(frozen=True, slots=True)
class Packed:
    """A summary in its stored form: `body`, and the numbers of the names that it uses and offers."""

    body: bytes
    uses: tuple[int, ...]
    offers: tuple[int, ...]


def packed(summary: Summary) -> Packed:
    """Return the summary in its stored form."""
    try:
        encoded = _ENCODER.encode(summary.flat)
    except UnicodeEncodeError:
        # Half a surrogate pair, which a literal may spell, cannot be kept as text.
        return packed(Summary(summary.language, problem=_NO_TEXT))
    return Packed(zlib.compress(encoded, _LEVEL), _numbers(summary.used_names), _numbers(summary.offered_names))


def unpacked(body: bytes) -> tuple[Summary, int]:
    """Return the stored summary, and roughly its size in memory."""
    encoded = zlib.decompress(body)
    return from_msgpack(encoded, Summary), len(encoded) * 3


def number_of(name: str) -> int:
    """Return the number of a name; two names will not share one."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_NUMBER_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


def _numbers(names: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted(map(number_of, names)))
