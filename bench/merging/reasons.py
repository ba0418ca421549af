"""Why ours refuses, counted."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

MANY: Final = 12
NAMES: Final = re.compile(r"'[^']*'(?:, '[^']*')*")
PLACES: Final = re.compile(r" \([^)]*\)")

Spots = Iterable[Mapping[str, object]]


def tell_reasons(refused: Iterable[Spots]) -> None:
    """Print how many were refused for each reason, how many for that one alone, and the commonest words."""
    all_spots = [list(spots) for spots in refused]
    found = [{str(spot["reason"]) for spot in spots} for spots in all_spots]
    alone = Counter(next(iter(each)) for each in found if len(each) == 1)
    print(f"{'refused for':<24}{'all':>6}{'this alone':>12}")
    for reason, number in Counter(reason for each in found for reason in each).most_common():
        print(f"  {reason:<22}{number:>6}{alone[reason]:>12}")
    whys = Counter(why for spots in all_spots for why in {_general(str(spot["why"])) for spot in spots})
    for why, number in whys.most_common(MANY):
        print(f"  {number:>6}  {why}")


def _general(why: str) -> str:
    return PLACES.sub("", NAMES.sub("'…'", why))
