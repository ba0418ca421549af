"""Judge whether a call of git would discard changes that are not the caller's, and word the refusal."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from commonhold.agents.git.change_attribution import Around, ChangeAttribution
from commonhold.agents.git.session_indexes import Home
from commonhold.agents.installing import put_there
from commonhold.kernel.texts import listed
from commonhold.shell import git_risks as risks
from commonhold.shell.git_words import GitCall
from commonhold.shell.held_paths import meets
from commonhold.workspace.git import differences
from commonhold.workspace.git.indexes import Index
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.tracked_files import exclude_file
from commonhold.workspace.line_ownership import OUTSIDE
from commonhold.workspace.survey.git_ground import moved_paths

COMMITS: Final = "commits"
STASHES: Final = "stashes"
_SHOWN: Final = 5
_ID: Final = 10


class Judging:
    """Judges the calls of one session in one working tree."""

    def __init__(self, whose: ChangeAttribution, home: Home, index: Index, around: Around) -> None:
        """Use `whose` to find the session's changes; the git of `index` reads pathspecs, in its folder.

        `around` opens the logs of other working trees.
        """
        self._whose = whose
        self._home = home
        self._holder = whose.holder
        self._index = index
        self._git = index.git
        self._around = around

    def refusal(self, call: GitCall, once_fetched: GitCall) -> str | None:
        """Return why the call must not run; None if it may. `once_fetched` is the call that it makes after fetching."""
        for risk in risks.risks_of(call, self._is_revision):
            why = self._move(risk, once_fetched) if isinstance(risk, risks.Move) else self._judged(risk)
            if why:
                return f"`{shlex.join(('git', *call.argv))}` was not run: {why}"
        return None

    def is_beside_work(self) -> bool:
        """Whether other sessions have uncommitted changes here."""
        return bool(self._of_other_sessions())

    def _is_revision(self, word: str) -> bool:
        """Whether a word names a commit, or a remote branch of which git would make a local one."""
        return differences.is_revision(self._git, word) or bool(self._remote(word))

    def _remote(self, word: str) -> str:
        """Return the commit of the remote branch that git would track under this name; empty if there is none."""
        if word.startswith(("-", ":", ".")):
            return ""
        return self._git.line("for-each-ref", "--count=1", "--format=%(objectname)", f"refs/remotes/*/{word}") or ""

    def _judged(self, risk: risks.Risk) -> str | None:
        judges: dict[type[risks.Risk], Callable[[Any], str | None]] = {
            risks.Files: self._files,
            risks.Untracked: self._untracked,
            risks.Commits: self._commits,
            risks.Stashes: self._stashes,
            risks.Worktree: self._worktree,
            risks.Pushed: _pushed,
            risks.Unknowable: _unknowable,
        }
        return judges[type(risk)](risk)

    def _files(self, risk: risks.Files) -> str | None:
        affected = list(differences.changed(self._git, self._index, self._whose.head, risk.paths))
        if risk.source not in ("", "HEAD"):
            beside = differences.untracked(self._git, self._index, risk.paths)
            affected += [path for path in beside if differences.is_revision(self._git, f"{risk.source}:{path}")]
        instead = "git stash push --" if risk.is_stash else "git restore --"
        return self._lost([path for path in affected if not self._whose.is_ignored(path)], instead, risk)

    def _untracked(self, risk: risks.Untracked) -> str | None:
        more = (*(f"--exclude={each}" for each in risk.spared), *(() if risk.ignored else ("--exclude-standard",)))
        instead = "git stash push -u --" if risk.is_stash else "git clean -f --"
        paths = differences.untracked(self._git, self._index, risk.paths, *more)
        refusal = self._lost([path for path in paths if not self._whose.is_ignored(path)], instead, risk)
        return refusal or (self._hooks_taken(paths, is_stash=risk.is_stash) if risk.ignored else None)

    def _hooks_taken(self, paths: Sequence[str], *, is_stash: bool) -> str | None:
        """Return why a call that removes ignored files must not run.

        Hooks that `install` has put there would be removed.
        """
        installed = put_there(Path(exclude_file(self._git)))
        ours = [path for path in paths if path in installed]
        if not ours:
            return None
        spared = " ".join(f"-e {shlex.quote(f'/{path}')}" for path in ours)
        then = "git stash push -u" if is_stash else f"the same with {spared}"
        return (
            f"it would take away what `commonhold install` has put here, without which no shell command of this agent "
            f"runs: {listed(ours, _SHOWN)}. Next: {then}"
        )

    def _lost(self, paths: Sequence[str], instead: str, risk: risks.Files | risks.Untracked) -> str | None:
        foreign = self._whose.of_others(paths)
        if not foreign:
            return None
        own = [f":/{path}" for path in paths if path not in foreign]
        if risk.is_stash and not risk.paths:
            # The stash would make room for a pull or a switch, which belong in a separate tree here.
            aside = f"; to put only your own files aside: {instead} {shlex.join(own)}" if own else ""
            return (
                "it would take changes that are not this session's out of everybody's working tree: "
                f"{self._whose.told(foreign)}. "
                f"Next: pull or switch in a tree of your own: {self._beside('HEAD')}{aside}"
            )
        undo = (
            "undo your own changes with your edit tool"
            if isinstance(risk, risks.Files)
            else "delete your own files by name"
        )
        then = f"{instead} {shlex.join(own)}" if own else undo
        return f"it would throw away changes that are not this session's: {self._whose.told(foreign)}. Next: {then}"

    def _move(self, risk: risks.Move, call: GitCall) -> str | None:
        head, target = self._tree_of("HEAD"), self._tree_of(self._target(risk))
        if head is not None and head == target:
            return None
        others = self._of_other_sessions()
        if others and (written := self._written(head, target, call)) is not None:
            kept_back = self._tracked(others) if call.word == "rebase" else frozenset[str]()
            others = {path: by for path, by in others.items() if path in kept_back or meets(path, written)}
        if not others:
            return None
        patience = self._whose.way_on(others, frozenset[str]().union(*others.values()))
        why = (
            "git rebases only where nothing is uncommitted, and other sessions have uncommitted work here"
            if call.word == "rebase"
            else "it would change files under other sessions, whose work here is not committed"
        )
        return (
            f"{why}: {self._whose.told(others)}. Next: {patience}, or work on it in a tree "
            f"of your own: {self._beside(risk.target or 'HEAD')}"
        )

    def _target(self, risk: risks.Move) -> str:
        """Return the commit that a call names, as git reads it there."""
        if risk.target == "-":
            return "@{-1}"
        is_known = not risk.target or differences.is_revision(self._git, risk.target)
        return risk.target if is_known else self._remote(risk.target)

    def _tree_of(self, commit: str) -> str | None:
        return self._git.line("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}") if commit else None

    def _written(self, head: str | None, target: str | None, call: GitCall) -> frozenset[str] | None:
        """Return the paths that a move writes; None if they are unknown."""
        if head is None or call.word == "stash":
            return None
        if target is not None:
            return differences.between(self._git, head, target)
        return moved_paths(Git(self._whose.tree.root), call, self._git.root)

    def _of_other_sessions(self) -> dict[str, frozenset[str]]:
        """Return the uncommitted files that other sessions have changed, with those sessions."""
        paths = differences.unstaged(self._whose.git, self._index)
        foreign = self._whose.of_others(each for each in paths if not self._whose.is_ignored(each))
        return {path: by for path, by in foreign.items() if by - {self._holder, OUTSIDE}}

    def _tracked(self, paths: Iterable[str]) -> frozenset[str]:
        """Return those of some paths that git tracks."""
        untracked = differences.untracked(self._whose.git, self._index, (), "--exclude-standard")
        return frozenset(paths).difference(untracked)

    def _beside(self, commit: str) -> str:
        """Return the command that creates a working tree beside this one."""
        return f"git worktree add --detach {shlex.quote(f'{self._whose.tree.root}-2')} {commit}"

    def _commits(self, risk: risks.Commits) -> str | None:
        makers = self._home.makers(COMMITS)
        lost = [
            each
            for each in differences.lost_commits(self._git, risk.lost, (risk.kept,))
            if makers.get(each) != self._holder
        ]
        if not lost:
            return None
        shown = [f"{each[:_ID]} ({makers.get(each, 'not known to be a session')})" for each in lost]
        return (
            f"no branch would lead any more to commits that this session did not make: {listed(shown, _SHOWN)}. "
            f"Next: git revert {lost[0][:_ID]}, or git branch NAME {lost[0][:_ID]} first, which keeps them"
        )

    def _stashes(self, risk: risks.Stashes) -> str | None:
        listed = (self._git.line("stash", "list", "--format=%H") or "").split()
        makers = self._home.makers(STASHES)
        own = [number for number, each in enumerate(listed) if makers.get(each) == self._holder]
        wanted = range(len(listed)) if risk.entry is None else [_number(risk.entry)]
        if all(number in own or number >= len(listed) for number in wanted):
            return None
        then = f"git stash pop 'stash@{{{own[0]}}}', which is this session's" if own else "leave it where it is"
        return f"this session did not make that stash entry, and all working trees share the stash. Next: {then}"

    def _worktree(self, risk: risks.Worktree) -> str | None:
        folder = Path(self._git.root, risk.path)
        tree = differences.find_tree(Git(str(folder))) if folder.is_dir() else None
        if tree is None:
            return None
        with self._around.logs(tree.root) as log:
            whose = ChangeAttribution(tree, log, self._holder, self._around.is_ignored)
            index = Index(whose.git, tree.shared_index)
            foreign = whose.of_others(differences.unstaged(whose.git, index))
        if not foreign:
            return None
        return (
            "that working tree holds changes that are not this session's and not committed: "
            f"{whose.told(foreign)}. Next: leave it, or ask for it to be committed"
        )


def _pushed(risk: risks.Pushed) -> str | None:
    if risk.is_checked:
        return None
    return (
        "it would discard commits that others have pushed, without a check. "
        "Next: git push --force-with-lease, which succeeds only if the remote branch has not moved since your "
        "last fetch"
    )


def _unknowable(risk: risks.Unknowable) -> str:
    return f"it would remove {risk.what}, and their author is unknown. Next: leave that to a person"


def _number(entry: str) -> int:
    digits = "".join(each for each in entry if each.isdigit())
    return int(digits) if digits else 0
