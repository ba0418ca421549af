"""From the common options to a repository, and from what was typed there to keys of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from commonhold.app.service import Commonhold
from commonhold.bootstrap import open_repository
from commonhold.cli.given import Given
from commonhold.domain.keys import parse

AGENT: Final = "COMMONHOLD_AGENT"


@dataclass(frozen=True, slots=True)
class Place:
    """A repository, opened at one of its folders: `folder` is relative to the root, empty for the root itself."""

    hold: Commonhold
    folder: str

    def key(self, text: str) -> str:
        """The key for the service: a plain path is relative to the folder, all other forms to the root."""
        if not parse(text).is_plain:
            return text
        path, mark, qualname = text.partition("#")
        joined = f"{self.folder}/{path}" if self.folder and not path.startswith("/") else path
        return rooted(joined) + mark + qualname

    def keys(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """The same for several."""
        return tuple(map(self.key, texts))


def rooted(path: str) -> str:
    """The key of a path relative to the root, wherever it is typed."""
    return "file:" + path.replace("%", "%25").replace("#", "%23")


def agent_of(given: Given) -> str | None:
    """The name of the agent session, from the option or the environment."""
    return given.agent if given.agent is not None else os.environ.get(AGENT) or None


@contextmanager
def opened(given: Given) -> Iterator[Place]:
    """The repository around the folder that was given, or around the current one."""
    start = os.path.realpath(given.folder or ".")
    with open_repository(start, agent=agent_of(given)) as hold:
        folder = os.path.relpath(start, hold.root)
        yield Place(hold, "" if folder == "." else folder)
