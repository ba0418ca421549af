"""Whether the keys of a merged TOML file stand in the tables in which the sides put them.

A key belongs to the table above it, and `[a.b]` to the last `[[a]]`. Each side alone is right, and a text that contains
both may still assign a key to another table.
"""

from collections.abc import Iterator

from commonhold.code.regions.toml import parse_toml
from commonhold.merging.verdict import Reason, Spot

Path = tuple[str, ...]


def in_another_table(merged: bytes, versions: tuple[bytes, bytes, bytes]) -> Spot | None:
    """Return a key in a table in which no version has it; None if there is none, or a text is no TOML."""
    try:
        known = {path for text in versions for path in _paths(parse_toml(text.decode()))}
        found = sorted({*_paths(parse_toml(merged.decode()))} - known)
    except (UnicodeDecodeError, ValueError):  # the check before this one reports it
        return None
    if not found:
        return None
    return Spot(Reason.ORDER_MATTERS, f"put together, {'.'.join(found[0])!r} would stand in another table")


def _paths(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the keys that lead to each value; `[]` stands for any place in an array."""
    stack: list[tuple[object, Path]] = [(value, path)]
    while stack:
        found, at = stack.pop()
        if isinstance(found, dict):
            stack += [(each, (*at, key)) for key, each in found.items()]
        elif isinstance(found, list):
            stack += [(each, (*at, "[]")) for each in found]
        yield at
