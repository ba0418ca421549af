"""The description of a language server: its command, its files, and the way in which it reports diagnostics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Pull:
    """The client requests diagnostics file by file; each answer is complete."""


@dataclass(frozen=True, slots=True)
class Push:
    """The server sends diagnostics when they are ready.

    They count as complete once the server has sent some for every changed file, and then nothing for `quiet_seconds`.
    The protocol does not guarantee that nothing follows, so `Pull` is more reliable.
    """

    quiet_seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Server:
    """The description of one language server.

    `languages` maps file suffixes to the protocol's language ids. `program` and `arguments` start it. `since` is the
    first version of its npm package that can run as a server; "" for any version. `settings` are the answers to its
    configuration requests, by section. `sees_unsaved`: whether other files can import a file that is open but not
    saved. `ground` are files and folders under the root that it reads only once; when one changes, it must be
    restarted. `install` is the next step for a user who lacks it.
    """

    name: str
    languages: Mapping[str, str]
    program: str
    arguments: tuple[str, ...]
    install: str
    since: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    diagnostics: Pull | Push = Pull()
    sees_unsaved: bool = False
    ground: tuple[str, ...] = ()

    def language_of(self, path: str) -> str | None:
        """Return the protocol's language id for a file; None if this server does not handle it."""
        return self.languages.get(PurePosixPath(path).suffix)
