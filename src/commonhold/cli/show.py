"""`commonhold show`: the text of regions, or bytes that were kept."""

import base64
import re
import shlex
from pathlib import Path
from typing import Final

import click

from commonhold.api.wire import shapes
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import is_terminal, say, send, send_json
from commonhold.cli.region_words import tell
from commonhold.kernel.errors import Code, UsageError

_HASH: Final = re.compile(r"[0-9a-f]{16,64}")


@click.command(
    "show",
    cls=Command,
    examples=(
        "commonhold show src/prices.py#total",
        "base=$(commonhold show src/prices.py#total --to total.py)",
        "commonhold show 7c0e4f92d1a85b36 --to src/prices.py",
    ),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, shell_complete=files)
@click.option(
    *("--to", "target"),
    metavar="FILE",
    shell_complete=files,
    help="Write the text of one region, or kept bytes, to FILE, and print only the hash: the base for a commit.",
)
@common
@click.pass_obj
def command(given: Given, keys: tuple[str, ...], target: str | None) -> None:
    """Print the text of regions; or, for a HASH of at least 16 digits, the bytes that are stored under it.

    For one region the text alone goes to standard output, and its hash (the base for a commit) to standard error;
    several regions get a heading each. Stored bytes are printed unchanged; --to FILE restores them, and leaves FILE
    alone if they are gone.
    """
    hashes = [key for key in keys if _HASH.fullmatch(key)]
    if hashes and len(keys) > 1:
        raise UsageError(Code.USAGE, "a hash is shown alone", hint="show one hash at a time; write ./NAME for a file")
    if target is not None and (len(keys) > 1 or given.as_json):
        raise UsageError(Code.USAGE, "--to goes with one KEY, and not with --json", hint="or use `> FILE`")
    with opened(given) as place:
        if target is not None:
            _put(place, keys[0], target, is_hash=bool(hashes))
        elif hashes:
            _show_content(place, hashes[0], given)
        else:
            _show_regions(place, keys, given)


def _show_content(place: Place, content_hash: str, given: Given) -> None:
    data = place.hold.content(content_hash)
    if given.as_json:
        send_json({"hash": content_hash, "data": base64.b64encode(data).decode()})
    elif is_terminal() and not _is_text(data):
        say(f"{len(data):,} bytes, binary. To get them: commonhold show {content_hash} > FILE")
    else:
        send(data)


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _put(place: Place, key: str, target: str, *, is_hash: bool) -> None:
    if is_hash:
        Path(target).write_bytes(place.hold.content(key))
        say(key)
        return
    (region,) = place.hold.read(place.key(key))
    if len(region.pieces) > 1:
        raise UsageError(
            Code.USAGE,
            f"{region.key} has {len(region.pieces)} pieces, so its text is not one",
            hint=f"`commonhold show {shlex.quote(key)}` shows each with its hash; commit one with --span",
        )
    Path(target).write_bytes(base64.b64decode(region.data or "") if region.text is None else region.text.encode())
    say(region.hash)


def _show_regions(place: Place, keys: tuple[str, ...], given: Given) -> None:
    regions = place.hold.read(*place.keys(keys))
    if given.as_json:
        send_json({"regions": [shapes.region_text(region) for region in regions]})
    else:
        tell(regions, keys)
