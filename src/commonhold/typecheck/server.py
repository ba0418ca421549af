"""A language server as data: how it is started, which files it reads, and how it reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Pull:
    """Diagnostics are requested file by file: an answer is complete when it comes."""


@dataclass(frozen=True, slots=True)
class Push:
    """Diagnostics come when the server has them.

    They count as complete once the server has sent some for every file that was shown anew, and then nothing came for
    `quiet_seconds`. No protocol promises that this is all, so requests are the better way.
    """

    quiet_seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Server:
    """The data of a language server.

    `languages` names the language of each suffix as the protocol does. `program` and `arguments` start it, and `since`,
    unless it is "", is the first version of its npm package that can be a server. `settings` are the answers to its
    requests for configuration, by section. `sees_unsaved`: whether a file that was only opened can be imported.
    `ground` are the files and folders, under the root, that it reads once: it is started anew when one changes.
    `install` is the one next step if it is missing.
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
        """Return the word for the language of a file; None if it is not for this server."""
        return self.languages.get(PurePosixPath(path).suffix)
