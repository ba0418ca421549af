"""A command replaced another session's uncommitted work: the messages to both, with the command to restore it. Pure.

Nothing is reverted automatically. The replaced text is kept, and each side gets the command that restores it.
"""

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.regions.python_ast import UNREADABLE, parse_module
from commonhold.commits.external.restore_command import way_back
from commonhold.kernel.events import Committed, FileChange, RegionChange
from commonhold.kernel.keys import canonical, contains, file_key
from commonhold.kernel.texts import quoted, short_name
from commonhold.reads.change_notifications import name

MOST_TOLD: Final = 5
_LAYOUT: Final = re.compile(rb"[\s;,]+")
_BRACED: Final = frozenset(
    {
        *("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "css", "scss", "less", "json", "jsonc", "java", "kt"),
        *("c", "h", "cc", "cpp", "hpp", "cs", "go", "rs", "swift", "scala", "php"),
    }
)
Contents = Callable[[str], bytes | None]
"""A function that returns kept bytes by hash; None if they are not kept."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A change by `by` to a region or file (`key`) with uncommitted work of `owner`: hashes before and after."""

    key: str
    owner: str
    by: str
    intent: str
    before: str
    after: str | None

    def told_owner(self) -> str:
        """Return the message to the session whose work was replaced."""
        by = f"{short_name(self.by)}{_for(self.intent)}"
        return (
            f"what you changed in {self._name} and have not committed was replaced by {by}; your text is kept. "
            f"Next, to restore it: {self._way_back(self.owner)}"
        )

    def told_writer(self) -> str:
        """Return the message to the session that replaced it."""
        return (
            f"this replaced uncommitted changes of {short_name(self.owner)} in {self._name}. "
            f"That session gets a notice, and the old text is kept. Next, to restore it: {self._way_back(self.by)}"
        )

    @property
    def _name(self) -> str:
        return name(canonical(self.key))

    def _way_back(self, agent: str) -> str:
        return way_back(self.key, self.before, self.after, agent)


def _for(intent: str) -> str:
    return f" ({quoted(intent)})" if intent else ""


def overwritten(
    commit: Committed, file: FileChange, owner: str, lines: Collection[bytes], contents: Contents
) -> Iterator[Replaced]:
    """Yield the replacements of an owner's `lines` by a commit to one file: the innermost regions, or the file.

    If only the layout changed, the owner's work is still there.
    """
    if file.before is None or _is_layout(
        file.path, contents(file.before), contents(file.after) if file.after else None
    ):
        return
    found = [each for each in _leaves(commit, file) if each.before and _holds(contents(each.before), lines)]
    if not found:
        yield Replaced(str(file_key(file.path)), owner, commit.holder, commit.intent, file.before, file.after)
    for each in found:
        before, after = each.before or "", each.after
        if not _is_layout(file.path, contents(before), contents(after) if after else None):
            yield Replaced(each.key, owner, commit.holder, commit.intent, before, after)


def _leaves(commit: Committed, file: FileChange) -> Sequence[RegionChange]:
    """Return the innermost changed regions of a file; none if the whole file was deleted."""
    place = file_key(file.path)
    keys = {each.key: canonical(each.key) for each in commit.regions}
    here = [each for each in commit.regions if keys[each.key].is_region and contains(place, keys[each.key])]
    around = {outer for each in here for outer in list(keys[each.key].upward())[1:]}
    return [each for each in here if keys[each.key] not in around] if file.after else []


def _holds(text: bytes | None, lines: Collection[bytes]) -> bool:
    wanted = {line.strip() for line in lines} - {b""}
    return text is not None and not wanted.isdisjoint(line.strip() for line in text.splitlines())


def _is_layout(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether two texts differ in their layout alone: the same program, with the same comments."""
    if before is None or after is None:
        return False
    suffix = path.rpartition(".")[2].lower()
    if suffix in _BRACED:
        return _LAYOUT.sub(b"", before).replace(b"'", b'"') == _LAYOUT.sub(b"", after).replace(b"'", b'"')
    if suffix not in {"py", "pyi"}:
        return False
    try:
        return _program(before) == _program(after)
    except (*UNREADABLE, tokenize.TokenError):
        return False


def _program(source: bytes) -> tuple[str, list[str]]:
    text = textwrap.dedent(source.decode())
    comments = [
        each.string for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type == tokenize.COMMENT
    ]
    return ast.dump(parse_module(text.encode())), comments
