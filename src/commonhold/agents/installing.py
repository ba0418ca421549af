"""The file changes of an installation or removal: the text of each file before and after; nothing is written yet."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonhold.agents.file_pieces import Obstacle, Piece
from commonhold.agents.hook_commands import Ways
from commonhold.agents.marked_block import HASH, UnendedError, block_in, replaced
from commonhold.agents.setup import Setup
from commonhold.kernel.errors import Code, InputError

_PRIVATE, _PROGRAM = 0o600, 0o755
Load = Callable[[str], str | None]
"""Returns the text of a file of the project; None if there is none."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; None if it is absent. `is_local`: our part of it holds for this machine alone.

    `what` counts our part of it in a few words.
    """

    path: str
    before: str | None
    after: str | None
    is_local: bool = True
    holds_secret: bool = False
    what: str = ""

    @property
    def mode(self) -> int | None:
        """The permissions that it must have; None: the present ones."""
        if self.holds_secret:
            return _PRIVATE
        return _PROGRAM if (self.after or "").startswith("#!") else None


def pieces_of(setups: Iterable[Setup], ways: Ways, *, servers: bool) -> Iterator[Piece]:
    """Yield all pieces of some agents, hooks first."""
    for setup in setups:
        yield from setup.hooks(ways)
        yield from setup.servers(ways) if servers else ()


def path_of(piece: Piece, load: Load) -> str:
    """Return the file that a piece belongs in: the first of its names that exists."""
    return next((path for path in piece.paths if load(path) is not None), piece.paths[0])


def to_put(pieces: Iterable[Piece], load: Load) -> tuple[FileChange, ...]:
    """Return the changes that putting pieces in makes. Raises InputError `CONFIG_INVALID`."""
    return _drafted(pieces, load, lambda piece, text: piece.put(text))


def to_take(pieces: Sequence[Piece], load: Load) -> tuple[FileChange, ...]:
    """Return the changes that taking pieces out makes. Raises as `to_put`.

    The last piece goes first, so that each finds the text that it left.
    """
    return _drafted(reversed(pieces), load, lambda piece, text: piece.take(text))


def _drafted(
    pieces: Iterable[Piece], load: Load, change: Callable[[Piece, str | None], str | None]
) -> tuple[FileChange, ...]:
    drafts: dict[str, FileChange] = {}
    for piece in pieces:
        path = path_of(piece, load)
        draft = drafts.get(path) or FileChange(path, load(path), load(path), is_local=False)
        try:
            after = change(piece, draft.after)
        except Obstacle as fault:
            raise _unusable(path, str(fault)) from fault
        is_local, holds_secret = draft.is_local or piece.is_local, draft.holds_secret or piece.holds_secret
        what = ", ".join(dict.fromkeys(filter(None, (draft.what, piece.what if after != draft.after else ""))))
        drafts[path] = FileChange(path, draft.before, after, is_local, holds_secret, what)
    return tuple(draft for draft in drafts.values() if draft.before != draft.after)


def _unusable(path: str, why: str) -> InputError:
    return InputError(
        Code.CONFIG_INVALID,
        f"{path} cannot be changed: {why}; nothing was changed anywhere",
        hint="fix that file, or move it away, and repeat the same call",
        fields={"path": path},
    )


def with_unseen(text: str | None, paths: Iterable[str], *, but: Iterable[str] = ()) -> str | None:
    """Return git's list of excluded files, with these paths added to our block of it, and `but` removed from it."""
    gone = set(map(_line, but))
    try:
        there = block_in(text or "", HASH).splitlines()
        lines = dict.fromkeys([*there, *map(_line, paths)])
        return replaced(text, "\n".join(line for line in lines if line not in gone), HASH)
    except UnendedError as fault:
        raise _unusable("info/exclude in the git folder", str(fault)) from fault


def put_there(list_: Path) -> frozenset[str]:
    """Return the paths from the root that `install` has added to git's list of excluded files."""
    try:
        lines = block_in(list_.read_text(encoding="utf-8", errors="surrogateescape"), HASH).splitlines()
    except (OSError, UnendedError):
        return frozenset()
    return frozenset(line.removeprefix(_line("")) for line in lines)


def _line(path: str) -> str:
    return f"/{path}"
