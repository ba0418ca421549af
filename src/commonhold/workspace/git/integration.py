"""The branch that a merge queue lands on: its head, merge commits for entries, and moving it by compare-and-swap."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.refs import short_ref
from commonhold.merging.branches.histories import Meeting, Side
from commonhold.workspace.git import apply_merge
from commonhold.workspace.git.process import Git, failed

NOTES: Final = "refs/notes/commonhold"
_SERVER: Final = {f"GIT_{who}_{what}": "commonhold" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_LATEST_CHANGES: Final = 3
_SEPARATOR: Final = ",separator=%x2C "


class Moving(Enum):
    """The result of a move: the branch was moved, others had moved it before, or its checkout is in the way.

    REFUSED: a remote does not take the commit.
    """

    MOVED = auto()
    STALE = auto()
    BLOCKED = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Move:
    """The result of moving the branch; `why` names the obstacle, if there is one."""

    moving: Moving
    why: str = ""


class IntegrationBranch:
    """One branch of a repository, by the full name of its ref."""

    def __init__(self, git: Git, ref: str) -> None:
        """Ask `git` about the branch `ref`."""
        self._git = git
        self.ref = ref

    def head(self) -> str:
        """Return its commit. Raises InputError `REVISION_UNKNOWN` if there is no such branch."""
        found = self._git.line("rev-parse", "--verify", "--quiet", f"{self.ref}^{{commit}}")
        if found is None:
            raise InputError(
                Code.REVISION_UNKNOWN,
                f"there is no branch {self.ref}, so nothing can land on it",
                hint="`git branch` lists the branches",
                fields={"revision": self.ref},
            )
        return found

    def is_part(self, commit: str, head: str) -> bool:
        """Whether a commit is part of `head`; not if the repository has no such commit."""
        return self._git.run("merge-base", "--is-ancestor", commit, head).returncode == 0

    def merge_commit(self, head: str, commit: str, tree: str, message: str) -> str:
        """Return a new commit of `tree` with both as its parents, the same for the same arguments.

        Its author is that of `commit`. Its date is that of the later parent: so a merge that is made again after a
        crash has the same hash.
        """
        shown = self._git.ask("show", "--no-patch", "--format=%ct%x00%an%x00%ae", head, commit).split(b"\n")
        dates, names, addresses = zip(*(line.split(b"\0") for line in shown if line), strict=True)
        date = f"@{max(map(int, dates))} +0000"
        people = {**self._committer(), "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        people |= {"GIT_AUTHOR_NAME": os.fsdecode(names[-1]), "GIT_AUTHOR_EMAIL": os.fsdecode(addresses[-1])}
        given = f"{message}\n".encode("utf-8", "surrogateescape")
        made = self._git.ask("commit-tree", tree, "-p", head, "-p", commit, given=given, settings=people)
        return made.decode("ascii").strip()

    def _committer(self) -> Mapping[str, str]:
        """Return who commits if git knows no user here, as on a server; nothing if it does."""
        return {} if self._git.line("var", "GIT_COMMITTER_IDENT") else _SERVER

    def annotate(self, base: str, built: str, text: str) -> None:
        """Add a note to a merge commit, and to all commits that it adds to `base`, in `refs/notes/commonhold`."""
        settings = self._committer()
        self._git.ask("notes", "--ref", NOTES, "add", "-f", "-F", "-", built, given=text.encode(), settings=settings)
        added = self._git.ask("rev-list", built, f"^{base}").decode("ascii").split()
        pairs = "".join(f"{built} {each}\n" for each in added if each != built)
        self._git.ask("notes", "--ref", NOTES, "copy", "-f", "--stdin", given=pairs.encode(), settings=settings)

    def changes_to(self, path: str, since: str, head: str) -> tuple[str, ...]:
        """Return the latest changes to a file between two commits, a line each, with their attribution."""
        keys = ("Commonhold-Entry", "Commonhold-Task", "Commonhold-Agent")
        fields = "%x00".join(f"%(trailers:key={key},valueonly{_SEPARATOR})" for key in keys)
        words = ("log", "--first-parent", f"-{_LATEST_CHANGES}", "--no-show-signature")
        form = f"--format=%h %s%x00{fields}%x1e"
        listed = self._git.ask(*words, form, f"{since}..{head}", "--", f":(top,literal){path}").decode(
            "utf-8", "replace"
        )
        return tuple(_described(each.strip().split("\0")) for each in listed.split("\x1e") if each.strip())

    def landed_since(self, since: str, head: str) -> tuple[str, ...]:
        """Return the ids of the entries that landed between two commits, oldest first."""
        words = ("log", "--first-parent", "--reverse", "--no-show-signature")
        form = f"--format=%(trailers:key=Commonhold-Entry,valueonly{_SEPARATOR})"
        return tuple(self._git.ask(*words, form, f"{since}..{head}").decode("utf-8", "replace").split())

    def move(self, old: str, new: str, publish: Callable[[], Move] = lambda: Move(Moving.MOVED)) -> Move:
        """Move the branch from `old` to `new`, if it is at `old`, together with the files of its checkout.

        Git compares and swaps the ref under its own lock. If the branch is checked out, the files there are updated by
        git, all or nothing, and only if none of those that `new` changes differs from `old`. If nothing is in the way,
        `publish` is called first: unless it has MOVED the remote, nothing is changed here, and its result is returned.
        """
        places = self._checkouts()
        if obstacle := self._obstacle(old, new, places):
            return obstacle
        if (published := publish()).moving is not Moving.MOVED:
            return published
        if places:
            fault = apply_merge.advance(Git(places[0]), self._meeting(old, new), new)
            why = f"git could not update the checkout of {self.name} in {places[0]}: {fault}"
            moved = Move(Moving.BLOCKED, why) if fault else Move(Moving.MOVED)
        else:
            done = self._git.run("update-ref", "-m", "commonhold: landed by the merge queue", self.ref, new, old)
            if done.returncode != 0 and self.head() == old:
                raise failed("update-ref", done)
            moved = Move(Moving.STALE if done.returncode else Moving.MOVED)
        return Move(Moving.STALE) if moved.moving is not Moving.MOVED and self.head() != old else moved

    def _obstacle(self, old: str, new: str, places: Sequence[str]) -> Move | None:
        """Return why the branch, which is checked out in `places`, cannot be moved; None if it can."""
        if self.head() != old:
            return Move(Moving.STALE)
        if self._git.run("cat-file", "-e", f"{new}^{{commit}}").returncode != 0:
            return Move(Moving.STALE, "the merge commit of its batch is no longer in the repository")
        if len(places) > 1:
            return Move(Moving.BLOCKED, f"{self.name} is checked out in several working trees: {', '.join(places)}")
        for root in places:
            git = Git(root)
            git_dir = git.line("rev-parse", "--absolute-git-dir") or root
            if what := apply_merge.under_way(git, git_dir):
                return Move(Moving.BLOCKED, f"{self.name} is checked out in {root}, where {what}")
            if paths := apply_merge.in_the_way(git, self._meeting(old, new), new):
                why = f"{self.name} is checked out in {root}, where {', '.join(paths[:5])} would be overwritten"
                return Move(Moving.BLOCKED, f"{why}: commit or stash it there")
        return None

    def _meeting(self, old: str, new: str) -> Meeting:
        return Meeting(Side(self.name, old, ""), Side("the merge queue", new, ""), (old,), self.name)

    @property
    def name(self) -> str:
        """The name of the branch."""
        return short_ref(self.ref)

    def _checkouts(self) -> Sequence[str]:
        """Return the roots of the working trees in which the branch is checked out."""
        listed = self._git.ask("worktree", "list", "--porcelain").split(b"\n\n")
        blocks = [dict(_split(line) for line in block.split(b"\n") if line) for block in listed]
        found = [os.fsdecode(each[b"worktree"]) for each in blocks if os.fsdecode(each.get(b"branch", b"")) == self.ref]
        return [each for each in found if os.path.isdir(each)]


def _split(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b" ")
    return name, value


def _described(fields: Sequence[str]) -> str:
    subject, *values = fields
    named: Mapping[str, str] = dict(zip(("entry", "task", "agent"), map(str.strip, values), strict=False))
    more = ", ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"{subject} ({more})" if more else subject
