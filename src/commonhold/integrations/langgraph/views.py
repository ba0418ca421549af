"""What agents take their files to be: what they have read, with what they have written themselves since."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

MOST: Final = 256


@dataclass(frozen=True, slots=True)
class View:
    """A file as an agent knows it. `hash` and `content` of None: it is not there.

    `hash` is that of the last version that it has read whole or made, `content` that version with its own edits since:
    what others have made of the file beside is not in it, even where the agent was told of it.
    """

    path: str
    hash: str | None = None
    content: bytes | None = None


class Views:
    """The views of all agents, by holder and path, as far as they are more than the store knows.

    One that is forgotten costs an agent a refusal at worst: then it counts as what it has read last.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lock = threading.Lock()
        self._views: OrderedDict[tuple[str, str], View] = OrderedDict()

    def get(self, holder: str, path: str) -> View | None:
        """The agent's view of a file; None: it is what it has read last."""
        with self._lock:
            return self._views.get((holder, path))

    def wrote(self, holder: str, view: View) -> None:
        """The agent has written the file, or a part of it."""
        with self._lock:
            self._views[holder, view.path] = view
            self._views.move_to_end((holder, view.path))
            if len(self._views) > MOST:
                self._views.popitem(last=False)

    def read(self, holder: str, path: str) -> None:
        """The agent has read the file anew."""
        with self._lock:
            self._views.pop((holder, path), None)
