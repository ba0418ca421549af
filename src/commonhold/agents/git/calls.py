"""Handle calls of git from a session's shell: which call runs, in which index, and its consequences.

A session has an index of its own, which keeps in step with HEAD. The files that it stages are inspected, so that its
commits hold only its own changes. The shared index follows HEAD, too, except for entries that someone has staged there.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from commonhold.agents.git import held_files
from commonhold.agents.git.change_attribution import Around, Log
from commonhold.agents.git.private_trees import UNUSED_SECONDS
from commonhold.agents.git.session import MOVERS, WRITERS, Answer, Pending, Session
from commonhold.agents.git.session_indexes import Home, programs, remove_private_trees
from commonhold.shell.git_calls_in_shell import git_calls_of
from commonhold.shell.git_risks import RISKY
from commonhold.shell.git_words import GitCall, placed, read_call
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.git.aliases import resolved
from commonhold.workspace.git.differences import Tree, find_tree
from commonhold.workspace.git.objects import INDEX
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore import IsIgnored

OpenLog = Callable[[str, str], AbstractContextManager[Log]]
"""Opens the session of a holder on the repository around a path."""
Settle = Callable[[str, str], object]
"""Records the changes so far of a holder's shells, in the working tree at a root."""

ELSEWHERE: Final = frozenset({"clone", "init", "worktree"})
"""Commands that make other working trees, with indexes of their own."""
MOST_PENDING: Final = 4096
"""Limit of calls without a reported end: the caller of git may be killed before it reports one."""
LOOK_SECONDS: Final = 60.0
_ANYTHING: Final = "."


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a call of git: its caller, its words, its folder, and git's variables in the environment.

    `temporary` is the folder for the caller's temporary files. `has_turn`: the caller has locked the files that an
    earlier answer named. `has_fetched`: it has made the call that an earlier answer named.
    """

    holder: str
    cwd: str
    argv: tuple[str, ...]
    index: str = ""
    git_dir: str = ""
    work_tree: str = ""
    temporary: str = ""
    has_turn: bool = False
    has_fetched: bool = False

    @property
    def before(self) -> tuple[str, ...]:
        """The choices of the environment, as options of git."""
        chosen = (("--git-dir", self.git_dir), ("--work-tree", self.work_tree))
        return tuple(f"{option}={value}" for option, value in chosen if value)


class GitCalls:
    """Answers questions about calls of git for one repository."""

    def __init__(self, state_folder: str, open_log: OpenLog, settle: Settle, is_ignored: IsIgnored) -> None:
        """Keep indexes in the state folder; `open_log` opens the log, once `settle` has recorded the changes so far.

        Git stages and restores files that `is_ignored` without any check here.
        """
        self._state_folder = state_folder
        self._open_log = open_log
        self._settle = settle
        self._is_ignored = is_ignored
        self._pending: dict[str, Pending] = {}
        self._lock = threading.Lock()
        self._looked = time.monotonic()

    def begin(self, told: Mapping[str, Any]) -> Answer:
        """Return how a call of git is to run.

        `refusal`: it must not run, for this reason. `turns`: the caller locks these files, then asks again. `fetch`:
        the caller makes this call first, then asks again. Otherwise `env` holds variables (None: removed), `argv` other
        words if they change, `say` a message for the caller, and `after` the name by which it reports the end of the
        call.
        """
        switches = {name: bool(told.get(name)) for name in ("has_turn", "has_fetched")}
        asked = Asked(**{**told, "argv": tuple(told["argv"]), **switches})
        call, folder = _placed(asked)
        tree = self._tree(folder, call)
        if tree is None:
            return {"env": {INDEX: None}}
        if _is_astray(tree, call):
            refusal = _astray(tree, call)
            return {"refusal": refusal} if refusal else {"env": {}}
        folder = _within(tree, folder)
        home = Home(self._state_folder, tree, asked.holder)
        if asked.index not in ("", home.index) and not home.is_beside(asked.index):
            return {"env": {}}  # an index that the command chose itself is its own
        call = resolved(Git(tree.root), call, WRITERS)
        if call.word in WRITERS and not asked.has_turn:
            home.prepare()
            return {"turns": list(home.turns if call.word in MOVERS else home.turns[:1])}
        if call.word in WRITERS or call.word in RISKY:
            self._settle(tree.root, asked.holder)
        with self._session(home, asked.holder, folder, asked.temporary) as session:
            if call.word == "pull" and asked.has_turn and not asked.has_fetched and _is_beside_others(session):
                return {"fetch": ["-C", session.folder, *held_files.to_fetch(call)]}
            return self._answer(session, call, has_turn=asked.has_turn)

    @contextmanager
    def _session(self, home: Home, holder: str, folder: str, temporary: str = "") -> Iterator[Session]:
        def logs(root: str) -> AbstractContextManager[Log]:
            return self._open_log(root, holder)

        home.prepare()
        with logs(home.tree.root) as log:
            yield Session(home, holder, folder, log, Around(logs, self._is_ignored), temporary)

    def _answer(self, session: Session, call: GitCall, *, has_turn: bool) -> Answer:
        lost = session.catch_up(has_turn=has_turn)
        refusal = session.refusal(call, held_files.once_fetched(call, Git(session.folder)) if has_turn else None)
        if not refusal and has_turn:
            refusal = held_files.refusal(call, session.tree.root, session.folder, session.holder, session.log)
        if refusal:
            return {"refusal": refusal}
        if call.word in ELSEWHERE:
            return {"env": {INDEX: None}}
        if call.word not in WRITERS:
            return {"env": session.environment(session.index), "say": lost}
        pending = session.prepared(call)
        token = secrets.token_hex(8)
        with self._lock:
            self._pending[token] = pending
            if len(self._pending) > MOST_PENDING:
                del self._pending[next(iter(self._pending))]
        return {"argv": list(pending.argv), "env": dict(pending.environment), "after": token, "say": lost}

    def end(self, told: Mapping[str, Any]) -> Answer:
        """Handle the end of a call: return a message to `say`, and whether to run the call `again`."""
        with self._lock:
            pending = self._pending.pop(told["after"], None)
        if pending is None:
            return {}
        session = pending.session
        with self._open_log(session.tree.root, session.holder) as log:
            here = session.asking(log)
            if here.is_changed_by_hooks(pending, told["status"]):
                self._settle(session.tree.root, session.holder)
            return here.ended(pending, told["status"])

    def look(self) -> None:
        """Remove the private trees that no commit uses any more; at most once a minute."""
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            remove_private_trees(self._state_folder, UNUSED_SECONDS)

    def close(self) -> None:
        """Remove all private trees that no commit is using."""
        remove_private_trees(self._state_folder)

    def refusal(self, holder: str, cwd: str, command: Sequence[str], *, has_stand_in: bool = False) -> str | None:
        """Return why a command must not run, because of a git call in it; None if it may.

        `has_stand_in`: git in the command asks here, so that a pull is judged after it has fetched.
        """
        for found in git_calls_of(command):
            folder = str(Path(cwd, found.folder)) if found.folder is not None else cwd
            # A word that is known only at run time may stand for any path.
            argv = tuple(_ANYTHING if word is None else word for word in found.argv)
            refusal = self._refusal(Asked(holder, folder, argv), has_stand_in=has_stand_in)
            if refusal:
                return refusal
        return None

    def _refusal(self, asked: Asked, *, has_stand_in: bool) -> str | None:
        call, folder = _placed(asked)
        tree = self._tree(folder, call)
        if tree is None:
            return None
        if _is_astray(tree, call):
            return _astray(tree, call)
        home = Home(self._state_folder, tree, asked.holder)
        with self._session(home, asked.holder, _within(tree, folder)) as session:
            session.catch_up(has_turn=False)
            call = resolved(Git(tree.root), call, WRITERS)
            return None if call.word == "pull" and has_stand_in else session.refusal(call)

    def environment(self, holder: str, cwd: str) -> dict[str, str]:
        """Return the variables of a shell's environment that send its git calls here; empty if there is no git."""
        tree = self._tree(cwd, GitCall((), "", ()))
        if tree is None:
            return {}
        home = Home(self._state_folder, tree, holder)
        with self._session(home, holder, cwd) as session:
            session.catch_up(has_turn=False)
        return {
            INDEX: home.index,
            "COMMONHOLD_SOCKET": http_address(self._state_folder),
            "COMMONHOLD_PROGRAMS": str(programs(self._state_folder)),
        }

    def _tree(self, folder: str, call: GitCall) -> Tree | None:
        """Return the working tree of the call, if it belongs to this repository; otherwise None."""
        tree = find_tree(Git(folder), call.before) if Path(folder).is_dir() else None
        is_ours = tree is not None and Path(self._state_folder).resolve() == Path(tree.common, "commonhold")
        return tree if is_ours else None


def _is_beside_others(session: Session) -> bool:
    """Whether others hold or have changed files here, so that the content of a pull matters."""
    return held_files.is_beside_holders(session.log, session.holder) or session.is_beside_work()


def _is_astray(tree: Tree, call: GitCall) -> bool:
    """Whether a call names a working tree itself that does not belong to the repository."""
    return bool(call.before) and find_tree(Git(tree.root)) != tree


def _astray(tree: Tree, call: GitCall) -> str | None:
    """Return why the call does not run: its index entries and HEAD moves do not belong to that folder."""
    word = resolved(Git(tree.root), call, WRITERS).word
    if word not in WRITERS:
        return None
    return (
        f"`git {word}` was not run: it names {tree.root} as the working tree, which does not belong to this "
        "repository, and would fill the index from there. Next: git archive REVISION | tar -x -C FOLDER, or, to "
        "work there, "
        "git worktree add --detach FOLDER"
    )


def _within(tree: Tree, folder: str) -> str:
    """Return the folder from which git counts paths; for a folder outside the working tree, its root."""
    return folder if f"{os.path.realpath(folder)}/".startswith(f"{tree.root}/") else tree.root


def _placed(asked: Asked) -> tuple[GitCall, str]:
    """Return the call without its `-C`, and the folder in which it is made."""
    call, folder = placed(read_call(asked.argv), asked.cwd)
    return GitCall((*asked.before, *call.before), call.word, call.rest), folder
