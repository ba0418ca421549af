"""From the common options to a repository, and from arguments to its keys."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.cli.common_options import Given, start_of
from commonhold.cli.describe import notices
from commonhold.cli.output import complain, shown
from commonhold.cli.person import person
from commonhold.client.opening import open_session
from commonhold.client.session import Commonhold
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Spec, parse
from commonhold.workspace.repository import find_repository

AGENT: Final = "COMMONHOLD_AGENT"
STORE: Final = "COMMONHOLD_STORE"


@dataclass(frozen=True, slots=True)
class Place:
    """A repository, opened at one of its folders: `folder` is relative to the root, empty for the root itself.

    If it `is_quiet`, only programs read the answers.
    """

    hold: Commonhold
    folder: str
    is_quiet: bool = False

    def key(self, text: str) -> str:
        """Return the key for the service: a plain path is relative to the folder, all other forms to the root.

        An existing path takes precedence over a module of that name.
        """
        spec = parse(text)
        if not spec.is_plain:
            return text
        path, mark, qualname = text.partition("#")
        joined = self._joined(path)
        self._check_mark(text, joined, qualname)
        self._say_if_dangling(path, Path(self.hold.root, joined))
        return self._module(spec, self._joined) or rooted(joined) + mark + qualname

    def _say_if_dangling(self, path: str, there: Path) -> None:
        """Say that a path is a link to nothing: all further messages name the file that it leads to.

        Nothing is said of a circle of links, which is an error.
        """
        is_dangling = there.is_symlink() and not there.exists() and not Path(os.path.realpath(there)).is_symlink()
        if is_dangling and not self.is_quiet:
            complain(f"notice: {shown(path)} is a link to {shown(str(there.readlink()))}, which does not exist")

    def key_from_root(self, text: str) -> str:
        """Return the same for the keys of a changeset, relative to the root: only a module's name is changed."""
        spec = parse(text)
        return (self._module(spec, str) if spec.is_plain else None) or text

    def _module(self, spec: Spec, joined: Callable[[str], str]) -> str | None:
        """Return the key of the module that is meant; None if there is none, or if a path of that name exists."""
        paths = (Path(self.hold.root, joined(each.raw_path)) for each in (spec, *spec.literals))
        if any(map(os.path.lexists, paths)):
            return None
        # Loaded here: modules, or paths that do not exist yet, are seldom named.
        from commonhold.workspace.files import WorkingTree  # noqa: PLC0415

        found = WorkingTree(self.hold.root).in_module(spec)
        return None if found is None else str(found)

    def _joined(self, path: str) -> str:
        return f"{self.folder}/{path}" if self.folder and not path.startswith("/") else path

    def _check_mark(self, text: str, path: str, qualname: str) -> None:
        """Raise InputError if a `#` may be part of a file's name: there is no file whose name ends before it."""
        there = f"{self.hold.root}/{path}"
        is_file = os.path.lexists(there) and not path.endswith("/")
        if not qualname or is_file or not ("/" in qualname or os.path.lexists(f"{there}#{qualname}")):
            return
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no file {path!r}, and what follows # names a region of it",
            hint=f"if # is part of a file's name, write {rooted(path)}%23{qualname.replace('#', '%23')}",
            fields={"path": path, "key": text},
        )

    def keys(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """The same for several."""
        return tuple(map(self.key, texts))


def rooted(path: str) -> str:
    """Return a key for a path relative to the root that means the same in whichever folder it is typed."""
    return "file:" + path.replace("%", "%25").replace("#", "%23")


def agent_of(given: Given) -> str | None:
    """Return the name of the agent session from the option or the environment, else that of a person at a terminal."""
    if given.agent is not None:
        return given.agent
    return os.environ.get(AGENT) or person()


@contextmanager
def opened(given: Given) -> Iterator[Place]:
    """Yield the repository around the given folder, or around the current one.

    After the block, the session gets messages about changes that others made to regions it has read.
    """
    start, agent = start_of(given), agent_of(given)
    repository = find_repository(start)
    is_new = repository.git_dir is None and not Path(repository.state_folder).is_dir()
    with open_session(start, agent=agent, store=given.store) as hold:
        folder = os.path.relpath(start, hold.root)
        yield Place(hold, "" if folder == "." else folder, is_quiet=given.as_json)
        if agent is not None:
            complain(notices(each.notice for each in hold.news()))
    if is_new and Path(repository.state_folder).is_dir():
        complain(
            f"notice: {repository.root} is in no git repository; a new state was made in {repository.state_folder}"
        )
