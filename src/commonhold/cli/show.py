"""`commonhold show`: the text of regions, or bytes that were kept."""

import base64
import re
from collections.abc import Iterator
from typing import Final

import click

from commonhold.app.reading import RegionText
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import complain, is_terminal, send, send_json, shown, shown_text
from commonhold.domain.errors import Code, UsageError
from commonhold.wire import shapes

_HASH: Final = re.compile(r"[0-9a-f]{16,64}")


@click.command(
    "show",
    cls=Command,
    examples=(
        "commonhold show src/prices.py#total > total.py",
        "commonhold show 7c0e4f92d1a85b36 > src/prices.py",
    ),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@common
@click.pass_obj
def command(given: Given, keys: tuple[str, ...]) -> None:
    """Print the text of regions; or, for a HASH of at least 16 digits, the bytes that were kept under it.

    For one region the text alone goes to standard output, and its hash (the base for a commit) to standard error;
    several regions get a heading each. Kept bytes are printed exactly as they were, to be restored with `> FILE`.
    """
    hashes = [key for key in keys if _HASH.fullmatch(key)]
    if hashes and len(keys) > 1:
        raise UsageError(Code.USAGE, "a hash is shown alone", hint="show one hash at a time; write ./NAME for a file")
    with opened(given) as place:
        if hashes:
            _show_content(place, hashes[0], given)
        else:
            _show_regions(place, keys, given)


def _show_content(place: Place, content_hash: str, given: Given) -> None:
    data = place.hold.content(content_hash)
    if given.as_json:
        send_json({"hash": content_hash, "data": base64.b64encode(data).decode()})
    else:
        send(data)


def _show_regions(place: Place, keys: tuple[str, ...], given: Given) -> None:
    regions = place.hold.read(*place.keys(keys))
    if given.as_json:
        send_json({"regions": [shapes.region_text(region) for region in regions]})
    elif len(regions) == 1 and len(regions[0].pieces) <= 1:
        complain(_heading(regions[0]))
        send(_bytes_of(regions[0]))
    else:
        send("".join(part for region in regions for part in _parts(region)).encode())


def _heading(region: RegionText) -> str:
    return f"{shown(region.key)}  {region.kind.value}  hash {region.hash}"


def _bytes_of(region: RegionText) -> bytes:
    if region.text is None:
        return base64.b64decode(region.data or "")
    return (shown_text(region.text) if is_terminal() else region.text).encode()


def _parts(region: RegionText) -> Iterator[str]:
    yield f"==> {_heading(region)}\n"
    if region.text is None:
        yield "(no text; --json gives it as base64)\n"
    elif not region.pieces:
        yield _block(region.text)
    for piece in region.pieces:
        yield f"--> span {piece.span}  hash {piece.hash}\n{_block(piece.text)}"


def _block(text: str) -> str:
    safe = shown_text(text)
    return safe if safe.endswith("\n") or not safe else safe + "\n"
