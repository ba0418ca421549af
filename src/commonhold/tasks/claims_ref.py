"""The ref of a git remote that holds the claims of tasks: read and moved without touching the working tree.

Commits are made in the object store with an index of their own. The user's index, files and branches stay as they are,
and no hook runs, neither here nor before the push.
"""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.kernel.refs import BRANCHES, full_ref
from commonhold.merging.branches.histories import Blob
from commonhold.tasks.claim_files import DONE, FOLDERS, MOST_BYTES, PENDING, Board, File, board
from commonhold.tasks.claims import Edit
from commonhold.workspace.git.objects import INDEX, index_line, put_in_index, read_blobs, removal_line, write_blobs
from commonhold.workspace.git.process import Done, Git
from commonhold.workspace.git.remote import check_remote

DEFAULT_REF: Final = "refs/commonhold/claims"
_SEEN: Final = "refs/commonhold/seen/"
_NETWORK_SECONDS: Final = 120
_RETRY_SECONDS: Final = 5.0
_SURE: Final = 3
"""After this many failed pushes in a row, with the ref unmoved, the remote's refusal is believed."""
_LOCKS_OF_OTHERS: Final = ("-c", "core.filesRefLockTimeout=10000")
"""In milliseconds. The git of a call that was killed may still be writing the refs that the next call writes."""
_FOR_THE_NETWORK: Final = ("GIT_SSH", "GIT_ASKPASS", "GIT_HTTP", "GIT_SSL", "GIT_PROXY")
_FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc")
_FILE: Final = "100644"
_EMAIL: Final = "claims@commonhold.invalid"
_FORMAT: Final = "--format=%x01%H%x00%ct%x00%an%x00%s%x00%(trailers:key=Commonhold-Action,valueonly,separator=%x2C)"


@dataclass(frozen=True, slots=True)
class LoggedClaim:
    """A commit that touched claim files: its id, time, author and subject, and its actions on tasks."""

    commit: str
    wall: float
    agent: str
    subject: str
    did: Mapping[str, str]
    """By task: claim, takeover, beat, release, done, or add for a new task."""


class GitClaims:
    """Claims on `ref` of `remote`. A branch is pushed to plainly; any other ref with `--force-with-lease`.

    Both move the ref only if it is still at the commit that was read. On a ref that is no branch, tasks also come from
    the branch that the remote's HEAD names.
    """

    def __init__(self, git: Git, remote: str, ref: str = DEFAULT_REF) -> None:
        """Name the remote (a name or a URL) and the ref (in full, or a branch). Raises UsageError for other words."""
        self._git, self._remote = git, remote
        self.ref = ref if ref.startswith("refs/") else full_ref(ref)
        if not remote or remote.startswith("-"):
            raise UsageError(Code.USAGE, f"{remote!r} is no remote", hint="name one that `git remote` lists, or a URL")
        if git.run("check-ref-format", self.ref).returncode:
            raise UsageError(Code.USAGE, f"{ref!r} is no name of a ref", hint=f"name a branch, or {DEFAULT_REF}")
        self._is_branch = self.ref.startswith(BRANCHES)
        self._failures = 0
        self._last: tuple[str, str] = ("", "")

    def read(self) -> Board:
        """Return the board at the remote's present commit.

        Raises UsageError if git knows no such remote, StoreError if it cannot be reached.
        """
        tips = self._tips()
        tip, head = tips.get(self.ref, ""), "" if self._is_branch else tips.get("HEAD", "")
        if (tip, head) != self._last:
            self._failures, self._last = 0, (tip, head)
        self._fetch({self.ref: tip, "HEAD": head})
        files = {**self._files(head, PENDING, DONE), **self._files(tip, *FOLDERS)}
        generation = int(self._git.ask("rev-list", "--count", "--first-parent", tip)) if tip else 0
        return board(tip, generation, files)

    def push(self, board: Board, edit: Edit) -> bool:
        """Move the ref from the board's commit to one with this edit; False if that is not known to have happened.

        Raises StoreError if the remote refuses although the ref has not moved.
        """
        commit = self._commit(board, edit)
        lease = () if self._is_branch else (f"--force-with-lease={self.ref}:{board.commit}",)
        words = ("push", "--no-verify", "--porcelain", "--quiet", *lease, "--", self._remote, f"{commit}:{self.ref}")
        done = self._reach(*words)
        if done.returncode == 0:
            return True
        self._failures += 1
        if self._failures >= _SURE and self._tips().get(self.ref, "") == board.commit:
            raise _unreachable("push", self._remote, done.stdout + done.stderr)
        return False

    def log(self, task: str | None, limit: int) -> list[LoggedClaim]:
        """Return the newest commits about claims (of one task, if named), newest first. Raises StoreError."""
        tip = self._tips().get(self.ref, "")
        if not tip:
            return []
        self._fetch({self.ref: tip})
        paths = FOLDERS if task is None else [f":(glob){folder}/{task}.*" for folder in FOLDERS]
        words = ("log", "-z", f"-{limit}", "--first-parent", "-m", "--name-status", "--no-renames", _FORMAT)
        return [*_logged(self._git.ask(*words, tip, "--", *paths).decode("utf-8", "replace"))]

    def _tips(self) -> dict[str, str]:
        done = self._reach("ls-remote", "--", self._remote, "HEAD", self.ref)
        if done.returncode:
            if not set(self._remote) & set(":/"):  # neither a URL nor a path
                check_remote(self._git, self._remote)
            raise _unreachable("ls-remote", self._remote, done.stderr)
        lines = (line.split("\t") for line in os.fsdecode(done.stdout).splitlines())
        return {name: tip for tip, name in lines}

    def _fetch(self, tips: Mapping[str, str]) -> None:
        """Fetch the commits, under refs that keep them and make the next fetch small."""
        if missing := self._missing(tips):
            done = self._reach(*_FETCH, "--", self._remote, *missing)
            # Git does not write a ref that another call has moved meanwhile, and that may have been to the same commit.
            if done.returncode and self._missing(tips):
                raise _unreachable("fetch", self._remote, done.stderr)

    def _missing(self, tips: Mapping[str, str]) -> list[str]:
        """Return what to fetch: the refs of the remote that were not seen here at these commits yet."""
        wanted = {f"{_SEEN}{self._place(name)}": (name, tip) for name, tip in tips.items() if tip}
        return [
            f"+{name}:{seen}"
            for seen, (name, tip) in wanted.items()
            if self._git.line("rev-parse", "--verify", "--quiet", f"{seen}^{{commit}}") != tip
        ]

    def _place(self, name: str) -> str:
        return hashlib.sha256(f"{self._remote}\0{name}".encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def _files(self, commit: str, *folders: str) -> dict[str, File]:
        """The claim files of a commit by path. Links and folders below are not among them."""
        if not commit:
            return {}
        paths = [f"{folder}/" for folder in folders]
        listed = self._git.ask("ls-tree", "-z", "--long", "--full-tree", commit, "--", *paths).split(b"\0")
        found: dict[str, tuple[str, int]] = {}
        for each in filter(None, listed):
            facts, _, path = os.fsdecode(each).partition("\t")
            mode, kind, object_id, size = facts.split()
            if kind == "blob" and mode.startswith("100"):
                found[path] = (object_id, int(size))
        blobs = read_blobs(self._git, [object_id for object_id, size in found.values() if size <= MOST_BYTES])
        too_large = b" " * (MOST_BYTES + 1)
        return {path: File(object_id, blobs.get(object_id, too_large)) for path, (object_id, _) in found.items()}

    def _commit(self, board: Board, edit: Edit) -> str:
        new = {path: content for path, content in edit.files.items() if content is not None}
        ids = dict(zip(new, write_blobs(self._git, [*new.values()]), strict=True))
        digits = next(iter(ids.values()), board.commit)
        lines = [
            removal_line(path, digits) if content is None else index_line(path, Blob(_FILE, ids[path]))
            for path, content in edit.files.items()
        ]
        with tempfile.TemporaryDirectory(prefix="commonhold-") as folder:
            settings = {INDEX: os.path.join(folder, "index")}
            if board.commit:
                self._git.ask("read-tree", board.commit, settings=settings)
            put_in_index(self._git, lines, settings)
            tree = self._git.ask("write-tree", settings=settings).decode().strip()
        parents = ("-p", board.commit) if board.commit else ()
        message = f"{edit.subject}\n\nCommonhold-Action: {edit.action}\nCommonhold-Fence: {edit.lock.fence}\n"
        told = self._git.ask("commit-tree", tree, *parents, given=message.encode(), settings=self._identity(edit))
        return told.decode().strip()

    def _identity(self, edit: Edit) -> dict[str, str]:
        """Return git's identity variables: the agent is the author; the address is the user's own, if git knows one."""
        email = self._git.line("config", "user.email") or _EMAIL
        told = {"NAME": edit.lock.agent or "commonhold", "EMAIL": email}
        return {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in told.items()}

    def _reach(self, *words: str) -> Done:
        """Run a command of git that connects to the remote, with the user's own settings for it."""
        own = {name: text for name, text in os.environ.items() if name.startswith(_FOR_THE_NETWORK)}
        try:
            return self._git.run(*_LOCKS_OF_OTHERS, *words, settings=own, timeout_seconds=_NETWORK_SECONDS)
        except subprocess.TimeoutExpired as fault:
            said = f"no answer within {_NETWORK_SECONDS} s".encode()
            raise _unreachable(words[0], self._remote, said) from fault


def _logged(text: str) -> Iterator[LoggedClaim]:
    for each in text.split("\x01")[1:]:
        commit, time, agent, subject, rest = each.split("\0", 4)
        action, *changed = rest.split("\0")
        did: dict[str, str] = {}
        pairs = [word for word in changed if word.strip()]
        for status, path in zip(pairs[::2], pairs[1::2], strict=False):
            folder, _, base = path.rpartition("/")
            kind = _kind(status.strip(), folder, base.rpartition(".")[2])
            if kind:
                name = base.rpartition(".")[0]
                did[name] = max(did.get(name, ""), kind, key=_WEIGHT.index)
        yield LoggedClaim(commit, float(time), agent, subject, {name: action or kind for name, kind in did.items()})


_WEIGHT: Final = ("", "add", "beat", "release", "claim", "done")
"""Kinds by weight: the completion of a task also ends its claim."""


def _kind(status: str, folder: str, ending: str) -> str:
    """Return the action of a commit without our trailer that added (A), changed (M) or deleted (D) a file."""
    if ending == "lock":
        return {"A": "claim", "M": "beat", "D": "release"}.get(status, "")
    if ending == "fence":
        return ""
    return {("A", PENDING): "add", ("A", DONE): "done"}.get((status, folder), "")


def _unreachable(word: str, remote: str, said: bytes) -> StoreError:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return StoreError(
        Code.STORE_UNREACHABLE,
        f"`git {word}` to {remote!r} failed: {' / '.join(lines) or 'it said nothing'}",
        hint=f"see that `git ls-remote {remote}` works and that you may push there, then repeat the same call",
        retry_after_seconds=_RETRY_SECONDS,
        fields={"remote": remote},
    )
