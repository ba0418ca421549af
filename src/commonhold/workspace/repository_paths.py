"""The place of a repository: its working tree, state folder and git folder; and whether it may be trusted.

Every command begins here, so this loads nothing but the modules that any Python has loaded already.
"""

import os
import stat

from commonhold.kernel.errors import Code, InputError

_LONGEST_PATH = 4096
STATE = "commonhold"
PLAIN_STATE = ".commonhold"

Paths = tuple[str, str, str | None]
"""The root, the state folder, and the git folder: None for a plain folder."""


def repository_paths(start: str) -> Paths:
    """Return the repository around `start`: the nearest folder with `.git` or `.commonhold`, else `start` itself.

    All working trees of one git repository have one state folder, in its common directory. Raises InputError
    `FILE_NOT_FOUND`, `PATH_INVALID`, `REPOSITORY_BARE`, `REPOSITORY_UNTRUSTED`.
    """
    _check_name(start)
    folder = os.path.realpath(start)
    _check_name(folder)
    if not os.path.isdir(folder):
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no folder {start!r}",
            hint="name a folder inside the repository",
            fields={"path": start},
        )
    place = folder
    while True:
        if os.path.lexists(os.path.join(place, ".git")):
            return _git_repository(place)
        if _is_git_dir(place):
            raise _bare(place)
        if os.path.lexists(os.path.join(place, PLAIN_STATE)):
            return _plain(place)
        above = os.path.dirname(place)
        if above == place:
            return _plain(folder)
        place = above


def _check_name(folder: str) -> None:
    """The state names its working trees in UTF-8, and no folder has NUL in its name."""
    if "\0" in folder:
        raise InputError(
            Code.PATH_INVALID,
            f"the folder {folder!a} has the character NUL in its name, which no folder can have",
            hint="name a folder inside the repository",
        )
    try:
        folder.encode()
    except UnicodeEncodeError as fault:
        raise InputError(
            Code.PATH_INVALID,
            f"the folder {folder!a} has a name that is not valid UTF-8",
            hint="rename it, or work in a clone at another place",
        ) from fault


def _plain(root: str) -> Paths:
    """A folder without git. A state that another user put there, or a link, could lead anywhere: it is not used."""
    state = os.path.join(root, PLAIN_STATE)
    if os.path.lexists(state):
        status = os.lstat(state)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (os.geteuid(), 0):
            raise _foreign_state(state)
    return root, state, None


def _foreign_state(state: str) -> InputError:
    return InputError(
        Code.REPOSITORY_UNTRUSTED,
        f"{state} is a link, or belongs to another user, so it is not used",
        hint="remove it if it is yours, or work in a git repository of your own",
        fields={"path": state},
    )


def _git_repository(root: str) -> Paths:
    git_dir = _git_dir(os.path.join(root, ".git"))
    for place in (root, git_dir):
        if os.stat(place).st_uid != os.geteuid() and not _git_trusts(root):
            raise _untrusted(root)
    common = os.path.join(git_dir, "commondir")
    shared = os.path.realpath(os.path.join(git_dir, _said(common).strip())) if os.path.isfile(common) else git_dir
    return root, os.path.join(shared, STATE), git_dir


def _said(place: str) -> str:
    """Return the path that one of git's files names."""
    # Loaded here: most repositories have only one working tree.
    from commonhold.machine.plain_files import read  # noqa: PLC0415

    return os.fsdecode(read(place, _LONGEST_PATH) or b"")


def _git_dir(dot_git: str) -> str:
    if os.path.isfile(dot_git):
        named = _said(dot_git).partition("\0")[0].removeprefix("gitdir:").strip()
        place = os.path.realpath(os.path.join(os.path.dirname(dot_git), named))
    else:
        place = os.path.realpath(dot_git)
    if not os.path.isfile(os.path.join(place, "HEAD")):
        raise InputError(
            Code.REPOSITORY_UNTRUSTED,
            f"{dot_git} leads to no git repository",
            hint="run `git status` there and fix its complaint",
            fields={"path": dot_git},
        )
    return place


def _is_git_dir(place: str) -> bool:
    is_there = {"HEAD": os.path.isfile, "objects": os.path.isdir, "refs": os.path.isdir}
    return all(is_so(os.path.join(place, name)) for name, is_so in is_there.items())


def _git_trusts(root: str) -> bool:
    """Whether git itself takes this repository of another user for safe (its safe.directory setting)."""
    # Loaded here: a repository is usually its user's own.
    from commonhold.workspace.git.process import ask  # noqa: PLC0415

    return ask("-C", root, "rev-parse", "--git-dir") is not None


def _bare(place: str) -> InputError:
    hint = "run this in a working tree: `git worktree add ../work` makes one"
    if os.path.basename(place) == ".git":
        hint = f"run this in the working tree: cd {os.path.dirname(place)}"
    elif not (os.path.isfile(os.path.join(place, "packed-refs")) or os.listdir(os.path.join(place, "refs", "heads"))):
        hint = "it has no commit yet: clone it (git clone . ../work), make the first commit there, and run this there"
    return InputError(
        Code.REPOSITORY_BARE,
        f"{place} is a bare repository (or the inside of a .git folder): it has no files to edit",
        hint=hint,
        fields={"path": place},
    )


def _untrusted(root: str) -> InputError:
    return InputError(
        Code.REPOSITORY_UNTRUSTED,
        f"{root} belongs to another user, so its state is not used",
        hint=f"if you trust it: git config --global --add safe.directory {root}",
        fields={"path": root},
    )
