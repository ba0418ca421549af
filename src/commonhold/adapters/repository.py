"""Which repository a path is in, where its state lives, and whether it may be trusted."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from commonhold.adapters.plain_files import read
from commonhold.adapters.state_folder import StateFolder, identity_at
from commonhold.domain.errors import Code, InputError

_LONGEST_PATH: Final = 4096
STATE: Final = "commonhold"
PLAIN_STATE: Final = ".commonhold"


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree and its state folder. `git_dir` is None for a plain folder.

    All working trees of one git repository have one state folder, in its common directory. `state` keeps this session
    to that very folder.
    """

    root: str
    state_folder: str
    git_dir: str | None = None
    state: StateFolder = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Keep in mind which folder the state belongs in: nothing is made inside another one."""
        above = identity_at(os.path.dirname(self.state_folder))
        object.__setattr__(self, "state", StateFolder(self.state_folder, above))


def find_repository(start: str) -> Repository:
    """The repository around `start`: the nearest folder with `.git` or `.commonhold`, else `start` itself.

    Raises InputError `FILE_NOT_FOUND`, `PATH_INVALID`, `REPOSITORY_BARE`, `REPOSITORY_UNTRUSTED`.
    """
    folder = Path(os.path.realpath(start))
    _check_name(folder)
    if not folder.is_dir():
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no folder {start!r}",
            hint="name a folder inside the repository",
            fields={"path": start},
        )
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git"):
            return _git_repository(place)
        if _is_git_dir(place):
            raise _bare(place)
        if os.path.lexists(place / PLAIN_STATE):
            return _plain(place)
    return _plain(folder)


def _check_name(folder: Path) -> None:
    """The state names its working trees in UTF-8."""
    try:
        str(folder).encode()
    except UnicodeEncodeError as fault:
        raise InputError(
            Code.PATH_INVALID,
            f"the folder {str(folder)!a} has a name that is not valid UTF-8",
            hint="rename it, or work in a clone at another place",
        ) from fault


def _plain(root: Path) -> Repository:
    """A folder without git. A state that another user put there, or a link, could lead anywhere: it is not used."""
    state = root / PLAIN_STATE
    if os.path.lexists(state):
        status = os.lstat(state)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (os.geteuid(), 0):
            raise _foreign_state(state)
    return Repository(str(root), str(state))


def _foreign_state(state: Path) -> InputError:
    return InputError(
        Code.REPOSITORY_UNTRUSTED,
        f"{state} is a link, or belongs to another user, so it is not used",
        hint="remove it if you know what it is, or work in a git repository of your own",
        fields={"path": str(state)},
    )


def _git_repository(root: Path) -> Repository:
    git_dir = _git_dir(root / ".git")
    for place in (root, git_dir):
        if place.stat().st_uid != os.geteuid() and not _git_trusts(root):
            raise _untrusted(root)
    common = git_dir / "commondir"
    shared = (git_dir / _said(common).strip()).resolve() if common.is_file() else git_dir
    return Repository(str(root), str(shared / STATE), str(git_dir))


def _said(place: Path) -> str:
    """The path that one of git's files names."""
    return os.fsdecode(read(str(place), _LONGEST_PATH) or b"")


def _git_dir(dot_git: Path) -> Path:
    if dot_git.is_file():
        text = _said(dot_git)
        place = (dot_git.parent / text.partition("\0")[0].removeprefix("gitdir:").strip()).resolve()
    else:
        place = dot_git.resolve()
    if not (place / "HEAD").is_file():
        raise InputError(
            Code.REPOSITORY_UNTRUSTED,
            f"{dot_git} leads to no git repository",
            hint="run `git status` there and mend what it says",
            fields={"path": str(dot_git)},
        )
    return place


def _is_git_dir(place: Path) -> bool:
    return (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()


def _git_trusts(root: Path) -> bool:
    """Whether git itself takes this repository of another user for safe (its safe.directory setting)."""
    # Loaded here: mostly a repository is its user's own.
    from commonhold.adapters.git.running import ask  # noqa: PLC0415

    return ask("-C", str(root), "rev-parse", "--git-dir") is not None


def _bare(place: Path) -> InputError:
    return InputError(
        Code.REPOSITORY_BARE,
        f"{place} is a bare repository (or the inside of a .git folder): it has no files to edit",
        hint="run this in a working tree: `git worktree add ../work` makes one",
        fields={"path": str(place)},
    )


def _untrusted(root: Path) -> InputError:
    return InputError(
        Code.REPOSITORY_UNTRUSTED,
        f"{root} belongs to another user, so its state is not used",
        hint=f"if you trust it: git config --global --add safe.directory {root}",
        fields={"path": str(root)},
    )
