"""What leases are held for that nobody asked for, and how much is shown to who is refused: words of many rooms."""

from typing import Final

HELD_FOR_TURN: Final = "turn"
HELD_FOR_EDIT: Final = "edit"
OURS: Final = frozenset({HELD_FOR_TURN, HELD_FOR_EDIT})
"""The acquisition ids of leases that were taken for a session, not asked for by it."""
MOST_SHOWN: Final = 12_000
"""So long a text is shown whole in a refusal, which counts as having been read."""
