"""A number in a text that counts its lines: both sides added some of their own, and counted only these."""

import re
from itertools import product
from typing import Final

from commonhold.merging.changed_rows import changed_lines
from commonhold.merging.verdict import Reason, Spot

_COUNT: Final = re.compile(rb"(?<![\w.,:/-])\d{1,9}(?![\w:/-]|[.,]\d)")
"""A whole number that is no part of a version, a date or a name."""


def counted_alike(base: bytes, ours: bytes, theirs: bytes) -> Spot | None:
    """Return why a number would be wrong that both sides raised alike, each by as many lines as it added."""
    (gone, come), (lost, made) = (changed_lines(base, side) for side in (ours, theirs))
    grown = {sum(new.values()) - sum(old.values()) for old, new in ((gone, come), (lost, made))}
    if len(grown) != 1 or come == made:
        return None
    for before, after in product(gone.keys() & lost.keys(), come.keys() & made.keys()):
        if _raised(before, after) in grown:
            shown = after.decode(errors="replace").strip()
            return Spot(Reason.ORDER_MATTERS, f"both sides added lines and counted their own alone ({shown})")
    return None


def _raised(before: bytes, after: bytes) -> int:
    """Return by how much the only number that differs between two lines was raised; 0 if more than that differs."""
    if _COUNT.sub(b"#", before) != _COUNT.sub(b"#", after):
        return 0
    steps = [int(new) - int(old) for old, new in zip(_COUNT.findall(before), _COUNT.findall(after), strict=True)]
    raised = [each for each in steps if each]
    return max(raised[0], 0) if len(raised) == 1 else 0
