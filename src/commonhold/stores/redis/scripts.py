"""The server-side scripts, each composed of named parts: the `.lua` files beside this one."""

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import Final

from commonhold.kernel.keys import HEADER
from commonhold.kernel.lease import MAX_CONFLICTS
from commonhold.kernel.lease_table import ENDED_BESIDE, SIGN_OF_LIFE
from commonhold.kernel.modes import COMPATIBLE, Mode
from commonhold.kernel.options import ANSWER_RETENTION_SECONDS, ANSWERS_DROPPED_AT_ONCE
from commonhold.kernel.values import RESULTS
from commonhold.kernel.write_slots import SCHEME
from commonhold.stores.reset_events import ITSELF, REASON

EPOCH: Final = "redis"
"""The epoch of every instant: the server's clock is wall time, which goes on through a restart."""

KEYS: Final = (
    "leases",  # hash: leases by id, and the fields that every script reads: see state.lua
    "index",  # sorted set: the entries by which leases and places in line are found, in byte order
    "waiters",  # hash: places in line by id of the future lease
    "values",  # hash: version and JSON by key
    "lost",  # hash: leases whose changes have not been searched for yet, by id
    "works",  # hash: number and JSON of partial work, by id of the lease
    "answers",  # hash: fingerprint, kind and JSON of the first answer by holder and request id
    "answered",  # sorted set: holder and request id by when it was answered
    "events",  # stream: the newest events by number
)

_MICRO: Final = 1_000_000
_WORDS: Final[dict[str, str]] = {
    **{name.upper(): f"KEYS[{number}]" for number, name in enumerate(KEYS, start=1)},
    # Fields of the hash of leases that are no ids begin with a mark.
    "MARK": r'"\29"',
    "COUNT": r'"\29count"',
    "COUNTER": r'"\29counter"',
    "LINE": r'"\29line"',
    "SOONEST": r'"\29soonest"',
    # Parts of the entries of the index; see requests.py for those that the client makes.
    "SEGMENT": r'"\31"',
    "AFTER_SEGMENT": r'"\32"',
    "PART": r'"\30"',
    "AFTER_PART": r'"\31"',
    "DUE": r'"\28"',
    "AFTER_DUE": r'"\29"',
    "NEVER": str(10**16 - 1),
    "WAITS": r'"\27"',
    "HEADER": f'"{HEADER}"',
    "EXCLUSIVE": f'"{Mode.EXCLUSIVE}"',
    "COMPATIBLE": f'",{",".join(f"{held} {wanted}" for held, wanted in sorted(COMPATIBLE))},"',
    "ENDED_BESIDE": str(ENDED_BESIDE),
    "SIGN_OF_LIFE": str(SIGN_OF_LIFE),
    "KEYS_OF_SLOTS": f'\'"keys":["{SCHEME}:\'',
    "SLOTS": "'\"slots\":'",
    "RESULTS": f'"{RESULTS}:"',
    "MAX_CONFLICTS": str(MAX_CONFLICTS),
    "ITSELF": f'"{ITSELF}"',
    "REASON": f'"{REASON}"',
    "MAX_EVENTS": "100000",
    "EVENTS_BETWEEN_TRIMS": "100",
    "ENTRIES_AT_ONCE": "1000",
    "ANSWERS_KEPT": str(int(ANSWER_RETENTION_SECONDS) * _MICRO),
    "ANSWERS_DROPPED_AT_ONCE": str(ANSWERS_DROPPED_AT_ONCE),
    "FENCES_BEGIN": str(1_704_067_200 * _MICRO),  # 2024-01-01
    "FENCES_A_MILLISECOND": str(2**10),
    "FENCE_GAP": str(2**20),
}
"""The constants in the scripts, in capitals. They are inserted as text: variables would be set at each run."""

_WORD: Final = re.compile(r'(?<!["\w])[A-Z][A-Z_]+(?!["\w])')


@dataclass(frozen=True, slots=True)
class Script:
    """A script, and the digest under which a server that has run it knows it."""

    source: bytes
    sha: bytes


@cache
def load(flags: str, *parts: str) -> Script:
    """The script made of the files named `parts`, in that order. `flags` is its declaration for the server."""
    texts = [f"#!lua flags={flags}", *(_text(part) for part in parts)]
    source = "\n".join(texts).encode()
    return Script(source, sha1(source, usedforsecurity=False).hexdigest().encode())


def _text(part: str) -> str:
    lines = Path(__file__).with_name(f"{part}.lua").read_text(encoding="utf-8").splitlines()
    code = (line for line in lines if not line.lstrip().startswith("--"))
    return _WORD.sub(lambda match: _WORDS.get(match[0], match[0]), "\n".join(code))
