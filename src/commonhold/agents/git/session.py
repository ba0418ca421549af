"""One session in one working tree, for the length of one call of git: before it runs, and after."""

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from commonhold.agents.git.change_attribution import Around, ChangeAttribution, Log
from commonhold.agents.git.commit_hooks import HookRun, runs_hooks, sweepings
from commonhold.agents.git.head_moves import HeadMove
from commonhold.agents.git.index_following import Following
from commonhold.agents.git.judging import COMMITS, STASHES, Judging
from commonhold.agents.git.session_indexes import Home, Operation
from commonhold.agents.git.staging import Staging
from commonhold.merging.branches.histories import Blob
from commonhold.shell.git_options import VALUED, with_absolute_files, words_of
from commonhold.shell.git_words import GitCall, Words
from commonhold.workspace.git import differences
from commonhold.workspace.git.commit_copy import remade
from commonhold.workspace.git.indexes import Entries, Index
from commonhold.workspace.git.objects import INDEX
from commonhold.workspace.git.process import Git

Answer = Mapping[str, Any]

MOVERS: Final = frozenset(
    {
        *("commit", "merge", "pull", "cherry-pick", "revert", "am", "rebase", "reset", "checkout", "switch", "bisect"),
        *("stash", "update-ref", "symbolic-ref", "branch", "read-tree", "filter-branch"),
    }
)
"""Commands that may move HEAD, or the branch it points to: sessions take turns at them."""
WRITERS: Final = MOVERS | {
    *("add", "stage", "rm", "mv", "restore", "apply", "update-index", "checkout-index", "submodule", "sparse-checkout"),
}
"""Commands that may write an index."""
_STAGERS: Final = frozenset({"add", "stage", "update-index"})
_GUARDED: Final = MOVERS - {"update-ref", "symbolic-ref", "branch", "stash"}
_SWITCHERS: Final = frozenset({"checkout", "switch", "branch", "symbolic-ref", "stash", "bisect", "rebase"})
_GOING_ON: Final = frozenset({"--continue", "--abort", "--skip", "--quit"})
_UNSEEN: Final = {
    "--pathspec-from-file": "git commit -- PATH..., with the paths themselves",
    "-p --patch": "git add -p, and then git commit",
    "--interactive": "git add -i, and then git commit",
}
"""Options of a commit with which it stages and commits in one step, and the alternative for each."""
_HOOKS_ALONE: Final = (
    "others have uncommitted work here, so the hooks of that commit ran on a copy of the files with only this "
    "session's changes, and their edits were copied back. Next: follow the hooks' output, then commit again"
)
_FATAL: Final = 128
_PLACES: Final = ("--git-dir", "--work-tree")
_SETTLED: Final = Blob("", "")


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that runs: its state before (HEAD, branch, stash, operation), and the index that it was given."""

    session: "Session"
    call: GitCall
    head: str
    stash: str
    operation: str | None
    index: Index
    tree: str = ""
    said: str = ""
    hooked: HookRun | None = None
    branch: str = ""

    @property
    def argv(self) -> Sequence[str]:
        """The words with which git is called."""
        if self.hooked is None:
            return ["-C", self.session.folder, *self.call.argv]
        return ["-C", self.hooked.private.folder(self.session.folder), *self.hooked.private.options, *self.call.argv]

    @property
    def environment(self) -> Mapping[str, str | None]:
        """The variables of git's environment."""
        return self.session.environment(self.index) if self.hooked is None else self.hooked.environment


class Session:
    """One session in one working tree, for the length of a call."""

    def __init__(self, home: Home, holder: str, folder: str, log: Log, around: Around, temporary: str = "") -> None:
        """Call git in `folder`; `log` attributes changes to sessions; `around` opens the logs of other working trees.

        Private working trees are made in the folder `temporary` (empty: the system's).
        """
        self.tree = home.tree
        self.home = home
        self.holder = holder
        self.folder = folder
        self.log = log
        self._around = around
        self._temporary = temporary
        self._root = Git(self.tree.root)
        self._following = Following(self._root, home, self.tree.shared_index)

    def asking(self, log: Log) -> "Session":
        """Return the same session with another log."""
        return Session(self.home, self.holder, self.folder, log, self._around, self._temporary)

    @property
    def _uses_shared_index(self) -> bool:
        operation = self.home.operation
        return bool(operation and operation.is_in_shared_index and operation.holder == self.holder)

    @property
    def index(self) -> Index:
        """The index that the session uses: its own, or the shared one during an operation that it took over."""
        path = self.tree.shared_index if self._uses_shared_index else self.home.index
        return Index(self._root, path)

    def environment(self, index: Index) -> dict[str, str | None]:
        """Return the variables of git's environment."""
        return {INDEX: None if index.path == self.tree.shared_index else index.path}

    def catch_up(self, *, has_turn: bool) -> str:
        """Bring the session's index in step with HEAD, unless another call holds its lock.

        Return a message that names the entries that are no longer staged.
        """
        if has_turn:
            self.home.clear()
            self._following.catch_up()
        else:
            with self.home.turn() as is_ours:
                if is_ours:
                    self._following.catch_up()
        lost = self._following.lost
        return (
            f"staged no more, since HEAD has got other changes there: {', '.join(lost)}; stage it again" if lost else ""
        )

    def refusal(self, call: GitCall, once_fetched: GitCall | None = None) -> str | None:
        """Return why the call must not run; `once_fetched` is the call that a pull makes after fetching."""
        if call.word in WRITERS:
            refusal = self._guarded(call)
            if refusal:
                return refusal
        return self._judging().refusal(call, once_fetched or call)

    def is_beside_work(self) -> bool:
        """Whether other sessions have uncommitted changes here."""
        return self._judging().is_beside_work()

    def _judging(self) -> Judging:
        here = Index(Git(self.folder), self.index.path)
        return Judging(self._whose(), self.home, here, self._around)

    def _whose(self) -> ChangeAttribution:
        return ChangeAttribution(self.tree, self.log, self.holder, self._around.is_ignored, since=self.home.owed or "")

    def _guarded(self, call: GitCall) -> str | None:
        """Refuse a commit during another's merge: it would end that merge, without its changes."""
        under_way = self.tree.operation
        if under_way is None:
            self.home.operation = None
        elif self.home.operation is None and self._goes_on_with_it(call):
            self.home.operation = Operation(self.holder, is_in_shared_index=True)
        known = self.home.operation
        if under_way and call.word in _GUARDED and (known is None or known.holder != self.holder):
            return (
                f"`git {call.word}` was not run: {known.holder if known else 'a user without a session'} is in the "
                f"middle of a {under_way} in this working tree. Next: wait until it is done, or work in a tree of your "
                "own (git worktree add --detach ../NAME); if it is yours to finish, git add the files that you solved"
            )
        return self._unseen(words_of(call)) if call.word == "commit" else None

    def _unseen(self, words: Words) -> str | None:
        """Refuse a commit whose content cannot be inspected beforehand, or that amends another's last one."""
        for option, instead in _UNSEEN.items():
            if words.has(*option.split()):
                return (
                    f"`git commit {option.split()[-1]}` was not run: Commonhold cannot check which changes it "
                    "includes, "
                    f"and they may be others'. Next: {instead}"
                )
        if not words.has("--amend"):
            return None
        head = differences.head_of(self._root)
        maker = self.home.makers(COMMITS).get(head)
        if maker in (None, self.holder):
            return None
        return (
            f"`git commit --amend` was not run: {maker} made the last commit ({head[:10]}). "
            "Next: git commit, which makes one of its own"
        )

    def _goes_on_with_it(self, call: GitCall) -> bool:
        """Whether a call takes over an operation that a person began: it says so, or resolves one of its conflicts."""
        if _GOING_ON & set(call.rest):
            return True
        entries = Index(self._root, self.tree.shared_index).entries()
        named = self._named(words_of(call))
        return any(entries.get(path, _SETTLED) is None for path in named)

    def prepared(self, call: GitCall) -> Pending:
        """Prepare the call: its words, and the index that it uses."""
        head = differences.head_of(self._root)
        branch = differences.branch_of(self._root)
        pending = Pending(self, call, head, self._stash(call), self.tree.operation, self.index, branch=branch)
        if self._uses_shared_index:
            return pending
        if call.word in _STAGERS:
            if words_of(call).has("-n", "--dry-run", "--refresh", "-N", "--intent-to-add"):  # it stages no content
                return pending
            return replace(pending, index=self._scratch())
        return self._committing(pending) if call.word == "commit" else pending

    def _stash(self, call: GitCall) -> str:
        """Return the newest entry of the stash, for a call that may change it."""
        return (call.word == "stash" and self._root.line("rev-parse", "--verify", "--quiet", "refs/stash")) or ""

    def _scratch(self) -> Index:
        return self.index.copied_to(self.home.scratch(secrets.token_hex(4)))

    def _committing(self, pending: Pending) -> Pending:
        words = words_of(pending.call)
        is_all = words.has("-a", "--all")
        if not (is_all or words.named) or (words.named and not self._are_known(words)):
            return self._hooked(replace(pending, tree=self.index.tree()))
        index = self._scratch()
        staged_in = index.copied_to(f"{index.path}-all")
        Git(self.folder).ask(
            "add", "--update", *(("--", *words.named) if words.named else ()), settings=staged_in.settings
        )
        after = dict(staged_in.entries())
        if words.named and not words.has("-i", "--include") and self.tree.operation is None:
            after = self._alone(words, index, after, pending.head)
        staged = Staging(self._whose(), self._named(words)).own(index.entries(), after)
        index.put(staged.entries)
        call = pending.call.with_rest(*_without_paths(words))
        return self._hooked(replace(pending, call=call, index=index, tree=index.tree(), said=staged.said))

    def _hooked(self, pending: Pending) -> Pending:
        """Move the commit into a private working tree if its hooks could touch changes of others."""
        if not pending.tree or not runs_hooks(self.tree, words_of(pending.call)):
            return pending
        whose = self._whose()
        paths = (path for path in differences.unstaged(self._root, self.index) if not whose.is_ignored(path))
        if not any(whose.of_others([path]) for path in paths):
            return pending
        index = self._scratch() if pending.index.path == self.index.path else pending.index
        taken = self.home.private_trees.take(index, pending.tree, self._temporary)
        call = with_absolute_files(pending.call, lambda name: name if name == "-" else str(Path(self.folder, name)))
        run = HookRun(self.tree, taken, index, pending.tree, is_of_staged=pending.index.path == self.index.path)
        return replace(
            pending, call=GitCall(_without_places(call.before), call.word, call.rest), index=index, hooked=run
        )

    def _are_known(self, words: Words) -> bool:
        listed = ("ls-files", "--error-unmatch", "--", *words.named)
        return Git(self.folder).run(*listed, settings=self.index.settings).returncode == 0

    def _alone(self, words: Words, index: Index, after: Entries, head: str) -> dict[str, Blob | None]:
        """Reset the index to HEAD except for the named paths; return the entries that it shall hold then."""
        listed = Git(self.folder).ask("ls-files", "-z", "--full-name", "--", *words.named, settings=index.settings)
        named = {os.fsdecode(each) for each in listed.split(b"\0") if each}
        words_of_reset = ("--reset", head) if head else ("--empty",)
        self._root.ask("read-tree", *words_of_reset, settings=index.settings)
        kept = {path: blob for path, blob in index.entries().items() if path not in named}
        return kept | {path: blob for path, blob in after.items() if path in named}

    def _named(self, words: Words) -> frozenset[str]:
        """Return the paths named one by one, relative to the root."""
        folder = os.path.realpath(self.folder)
        places = (os.path.normpath(str(Path(folder, each))) for each in words.named)
        return frozenset(os.path.relpath(place, self.tree.root) for place in places)

    def ended(self, pending: Pending, status: int) -> Answer:
        """Handle the end of a call."""
        if pending.call.word in _STAGERS and pending.index.path != self.index.path:
            return {"say": self._staged(pending)}
        head = differences.head_of(self._root)
        if self._came_between(pending, head, status):
            if pending.hooked:
                pending.hooked.let_go()
            return {"again": True}
        said = self._after_hooks(pending, status)
        if self.is_changed_by_hooks(pending, status):
            head, swept = self._without_others(pending, head)
            said = "\n".join(filter(None, (said, swept)))
        self._note(pending, head)
        self._tell_others(pending, head)
        if pending.call.word == "sparse-checkout":
            # The shared index gets the sparse checkout, too: otherwise the absent files would count as deleted there.
            is_sparse = self._root.line("config", "--bool", "core.sparseCheckout") == "true"
            self._root.finish("sparse-checkout", "reapply" if is_sparse else "disable")
        if pending.index.path not in (self.index.path, self.tree.shared_index):
            Path(pending.index.path).unlink(missing_ok=True)
        is_commit = pending.call.word == "commit" and status == 0
        self._following.went(pending.head, head, pending.index, committed=is_commit)
        return {"say": said} if said else {}

    def _after_hooks(self, pending: Pending, status: int) -> str:
        """Bring back the changes of hooks in a private working tree; return the message about the commit."""
        run = pending.hooked
        if run is None:
            return pending.said
        said = [pending.said, run.ended(self.log, is_committed=status == 0)]
        if status:
            self.index.put(run.staged())
            said.append(_HOOKS_ALONE)
        run.let_go()
        return "\n".join(filter(None, said))

    def is_changed_by_hooks(self, pending: Pending, status: int) -> bool:
        """Whether a commit holds another tree than intended, though its hooks ran in the shared working tree."""
        if status or pending.hooked or not (pending.tree and pending.head):
            return False
        tree, made = differences.made_of(self._root, differences.head_of(self._root))
        if tree == pending.tree:
            return False
        _, before = differences.made_of(self._root, pending.head)
        is_amended = words_of(pending.call).has("--amend")
        return made == before if is_amended else pending.head in made

    def _without_others(self, pending: Pending, head: str) -> tuple[str, str]:
        """Remove others' changes that hooks staged from a commit; return the new HEAD, and a message."""
        whose = ChangeAttribution(self.tree, self.log, self.holder, self._around.is_ignored, at=pending.head)
        tree, swept = sweepings(self._root, whose, pending.tree, f"{head}^{{tree}}")
        if not tree:
            return head, ""
        new = remade(self._root, head, tree)
        done = self._root.finish(
            "update-ref", "-m", "commonhold: without others' changes that a hook staged", "HEAD", new, head
        )
        if done.returncode:
            return head, f"a hook of that commit also staged others' changes: {swept}. Next: git revert {head[:10]}"
        return (
            new,
            f"a hook of that commit also staged others' changes, which are removed from the commit again: {swept}",
        )

    def _staged(self, pending: Pending) -> str:
        words = words_of(pending.call)
        staged = Staging(self._whose(), self._named(words)).own(self.index.entries(), pending.index.entries())
        if staged.left_out or staged.in_part:
            self.index.put(staged.entries)
            Path(pending.index.path).unlink(missing_ok=True)
        else:
            Path(pending.index.path).replace(self.index.path)
        return staged.said

    def _came_between(self, pending: Pending, head: str, status: int) -> bool:
        """Whether a person committed between our look at HEAD and git's, so that the commit must be rebuilt.

        If git did not see the commit of the person, the new commit reverts it, so the new commit is undone.
        """
        if pending.call.word != "commit" or words_of(pending.call).has("--amend"):
            return False
        if status == _FATAL:
            return head != pending.head or Path(self.tree.git_dir, "HEAD.lock").exists()
        if status or not pending.tree or not pending.head:
            return False
        tree, parents = differences.made_of(self._root, head)
        if pending.head in parents or tree != pending.tree:
            return False
        self._root.finish("update-ref", "-m", "commonhold: remade", "HEAD", f"{head}^", head)
        return True

    def _tell_others(self, pending: Pending, head: str) -> None:
        """Tell the other sessions in this working tree that HEAD is on another branch: it is their HEAD, too."""
        branch = differences.branch_of(self._root)
        if branch == pending.branch or pending.call.word not in _SWITCHERS:
            return
        now = self.log.status()
        holders = [*(each.holder for each in now.sessions), *(each.holder for each in now.leases)]
        others = {*holders, *(each.holder for each in now.changes)} - {self.holder}
        if others:
            is_renamed = pending.call.word == "branch" and bool(branch and pending.branch)
            move = HeadMove(self.holder, self.log.intent(), pending.branch, branch, pending.head, head, is_renamed)
            self.log.send(sorted(others), move.told(self.tree.root))

    def _note(self, pending: Pending, head: str) -> None:
        """Record the session's commits, its stash and its operation under way."""
        if head != pending.head and head and pending.call.word not in {"reset", "checkout", "switch", "bisect"}:
            since = (pending.head,) if pending.head else ()
            made = self._root.line("rev-list", head, "--not", *since, "--remotes", "--max-count=200") or ""
            self.home.note(COMMITS, tuple(made.split()), self.holder)
        stash = self._stash(pending.call)
        if stash and stash != pending.stash:
            self.home.note(STASHES, (stash,), self.holder)
        if self.tree.operation is None:
            self.home.operation = None
        elif pending.operation is None:
            self.home.operation = Operation(self.holder, is_in_shared_index=False)


def _without_places(before: Sequence[str]) -> tuple[str, ...]:
    """Return the options before a command without those that name the repository and its working tree."""
    found: list[str] = []
    left = list(before)
    while left:
        each = left.pop(0)
        if each in _PLACES:
            del left[:1]
        elif not each.startswith(tuple(f"{place}=" for place in _PLACES)):
            found.append(each)
    return tuple(found)


def _without_paths(words: Words) -> tuple[str, ...]:
    """Return the options of a commit without those that select its content: that is staged already."""
    found: list[str] = []
    for option, *value in words.options:
        if option in {"--all", "--include", "--only"}:
            continue
        kept = option if option.startswith("--") else _without_letters(option)
        if kept != "-":
            found += [kept, *value]
    return tuple(found)


def _without_letters(option: str) -> str:
    """Return a cluster of letters without `a`, `i` and `o`, up to the letter that takes the rest as its value."""
    kept = "-"
    for at, letter in enumerate(option[1:], 1):
        if letter in VALUED["commit"].letters or letter in VALUED["commit"].attached:
            return kept + option[at:]
        kept += "" if letter in "aio" else letter
    return kept
