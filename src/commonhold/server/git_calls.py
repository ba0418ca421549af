"""Calls of git from a session's shell: what each is to run, in which index, and what follows from it.

A session has an index of its own, which keeps in step with HEAD; what it stages is looked through, so that its commits
hold what it did itself. The index that all share goes with HEAD, too, as far as nobody has staged something else.
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

from commonhold.adapters.daemon_place import http_address
from commonhold.adapters.git.aliases import resolved
from commonhold.adapters.git.differing import Tree, find_tree
from commonhold.adapters.git.objects import INDEX
from commonhold.adapters.git.running import Git
from commonhold.adapters.ignoring import IsIgnored
from commonhold.app.git_risks import RISKY
from commonhold.app.git_words import GitCall, placed, read_call
from commonhold.app.shell_calls import git_calls_of
from commonhold.server import git_held
from commonhold.server.git_homes import Home, programs, remove_private_trees
from commonhold.server.git_private import UNUSED_SECONDS
from commonhold.server.git_session import MOVERS, WRITERS, Answer, Pending, Session
from commonhold.server.whose import Around, Log

OpenLog = Callable[[str, str], AbstractContextManager[Log]]
"""The session of a holder on the repository around a path."""
Settle = Callable[[str, str], object]
"""Records what the shells of a holder have changed so far, in the working tree at a root."""

ELSEWHERE: Final = frozenset({"clone", "init", "worktree"})
"""Commands that make other working trees, with indexes of their own."""
MOST_PENDING: Final = 4096
"""Who calls git may be killed, and never tell the end."""
LOOK_SECONDS: Final = 60.0
_ANYTHING: Final = "."


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: who calls git with which words, in which folder, and what the environment says to git.

    `temporary` is where it has its temporary files. `has_turn`: whoever asks has locked the files that it was told of,
    `has_fetched`: it has made the call that it was told of.
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
        """What the environment says, as options."""
        chosen = (("--git-dir", self.git_dir), ("--work-tree", self.work_tree))
        return tuple(f"{option}={value}" for option, value in chosen if value)


class GitCalls:
    """Answers for one repository."""

    def __init__(self, state_folder: str, open_log: OpenLog, settle: Settle, is_ignored: IsIgnored) -> None:
        """Keep indexes in the state folder; `open_log` says whose what is, once `settle` has seen what was done.

        What `is_ignored` is staged and taken back as git does it.
        """
        self._state_folder = state_folder
        self._open_log = open_log
        self._settle = settle
        self._is_ignored = is_ignored
        self._pending: dict[str, Pending] = {}
        self._lock = threading.Lock()
        self._looked = time.monotonic()

    def begin(self, told: Mapping[str, Any]) -> Answer:
        """What a call of git is to run.

        `refusal`: nothing, and why. `turns`: files to be locked, then to ask again. `fetch`: a call to make before,
        then to ask again. Else `env` (None: taken out), `argv` where it is another, `say` what to tell, and `after`
        where the end is to be told by that name.
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
                return {"fetch": ["-C", session.folder, *git_held.to_fetch(call)]}
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
        refusal = session.refusal(call, git_held.once_fetched(call, Git(session.folder)) if has_turn else None)
        if not refusal and has_turn:
            refusal = git_held.refusal(call, session.tree.root, session.folder, session.holder, session.log)
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
        """What follows from a call that has ended: what to `say`, and whether it is to be done `again`."""
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
        """Take away the private trees that no commit uses any more; at most once a minute."""
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            remove_private_trees(self._state_folder, UNUSED_SECONDS)

    def close(self) -> None:
        """Take away all private trees that no commit is using."""
        remove_private_trees(self._state_folder)

    def refusal(self, holder: str, cwd: str, command: Sequence[str], *, has_stand_in: bool = False) -> str | None:
        """Why a command must not run, because of a git call in it; None if it may.

        `has_stand_in`: its git asks here, so that a pull is judged once it has fetched.
        """
        for found in git_calls_of(command):
            folder = str(Path(cwd, found.folder)) if found.folder is not None else cwd
            # What is known only when it runs may be anything.
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
        """What a shell's environment says, so that its calls of git come here; nothing where there is no git."""
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
        """The working tree that is meant, where it is one of this repository."""
        tree = find_tree(Git(folder), call.before) if Path(folder).is_dir() else None
        is_ours = tree is not None and Path(self._state_folder).resolve() == Path(tree.common, "commonhold")
        return tree if is_ours else None


def _is_beside_others(session: Session) -> bool:
    """Whether others hold or have changed files here, so that it matters what a pull would bring."""
    return git_held.is_beside_holders(session.log, session.holder) or session.is_beside_work()


def _is_astray(tree: Tree, call: GitCall) -> bool:
    """Whether a call says itself what the working tree is, and that is none of the repository's."""
    return bool(call.before) and find_tree(Git(tree.root)) != tree


def _astray(tree: Tree, call: GitCall) -> str | None:
    """Why it is not run: what it leaves in the index, or where it moves HEAD, is no matter of that folder's."""
    word = resolved(Git(tree.root), call, WRITERS).word
    if word not in WRITERS:
        return None
    return (
        f"`git {word}` was not run: it takes {tree.root} for the working tree, which is none of this repository's, and "
        "would leave in the index what is there. Next: git archive REVISION | tar -x -C FOLDER, or, to work there, "
        "git worktree add --detach FOLDER"
    )


def _within(tree: Tree, folder: str) -> str:
    """The folder from which git counts paths: from outside of the working tree that is its root."""
    return folder if f"{os.path.realpath(folder)}/".startswith(f"{tree.root}/") else tree.root


def _placed(asked: Asked) -> tuple[GitCall, str]:
    """The call without its `-C`, and the folder that it is made in."""
    call, folder = placed(read_call(asked.argv), asked.cwd)
    return GitCall((*asked.before, *call.before), call.word, call.rest), folder
