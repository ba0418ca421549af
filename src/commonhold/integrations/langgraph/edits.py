"""From what a tool would do to files to the edits that a commit makes of it: as small as can be told."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonhold.app.happenings import Removed, Swap, Whole
from commonhold.domain.changeset import Edit, Op
from commonhold.integrations.langgraph.tools import FileWish
from commonhold.integrations.langgraph.views import View
from commonhold.regions.discover import discover
from commonhold.regions.region import Region, RegionMap


class Unfit(Exception):  # noqa: N818 - the agent is told, nothing has failed
    """What a tool would do cannot be done to the file as the agent knows it; the text says why."""


def resulting(view: View, wishes: Sequence[FileWish]) -> str | None:
    """What the file would hold; None where it would be gone. Raises Unfit."""
    text = view.text
    for wish in wishes:
        text = _after(text, wish)
    return text


def _after(text: str | None, wish: FileWish) -> str | None:
    match wish:
        case Whole():
            return wish.content
        case Swap() if text is None and not wish.old:
            return wish.new
        case _ if text is None:
            raise Unfit(f"{wish.path} is not there")
        case Removed():
            return None
        case Swap():
            return _swapped(text, wish)


def _swapped(text: str, wish: Swap) -> str:
    found = text.count(wish.old) if wish.old else 0
    if found == 0:
        raise Unfit(f"the text to be replaced is not in {wish.path}, or is empty")
    if found > 1 and not wish.everywhere:
        raise Unfit(f"the text to be replaced is in {wish.path} {found} times: give more of what stands around it")
    return text.replace(wish.old, wish.new)


def edits_between(view: View, after: str | None) -> Iterator[Edit]:
    """The edits that make the file what it is to be: of the definitions that change, or of the file."""
    if after == view.text:
        return
    if view.text is None:
        yield Edit(Op.CREATE_FILE, view.key, text=after)
    elif after is None:
        yield Edit(Op.DELETE_FILE, view.key, base=view.hash)
    else:
        yield from _in_bodies(view, after) or [Edit(Op.REPLACE, view.key, base=view.hash, text=after)]


def _in_bodies(view: View, after: str) -> Sequence[Edit]:
    """An edit for each body that changes; none where anything else changes, too.

    So others may hold, and change, the rest of the file meanwhile.
    """
    old, new = (discover(text.encode(), view.path) for text in (view.text or "", after))
    before, now = list(old.leaves()), list(new.leaves())
    if [each.key for each in before] != [each.key for each in now]:
        return ()
    changed = [pair for pair in zip(before, now, strict=True) if pair[0].hash != pair[1].hash]
    if not all(each.is_body for each, _ in changed):
        return ()
    return [_replaced(region, new, its) for region, its in changed]


def _replaced(region: Region, new: RegionMap, its: Region) -> Edit:
    return Edit(Op.REPLACE, str(region.key), base=region.hash, text=new.bytes_of(its).decode())


def renamed_to(wish: FileWish, path: str) -> FileWish:
    """The same wish about the file by another spelling of its path."""
    return replace(wish, path=path)
