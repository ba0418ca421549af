"""Constants of many modules: the purpose of leases that were taken unasked, and the size of text in a refusal."""

from typing import Final

HELD_FOR_TURN: Final = "turn"
HELD_FOR_EDIT: Final = "edit"
OURS: Final = frozenset({HELD_FOR_TURN, HELD_FOR_EDIT})
"""The acquisition ids of leases that Commonhold took for a session without its request."""
MOST_SHOWN: Final = 12_000
"""The length up to which a refusal shows a text whole, which counts as having read it."""
