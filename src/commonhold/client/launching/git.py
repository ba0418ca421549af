"""The program that stands in for git in a session's shell: asks what to run and with which index; git does the rest."""

import fcntl
import os
import sys
import time

from .running import NOT_FOUND, UNBOUND, Allowance, become, run
from .speaking import Object, Unserved, asked_of_next, say

# Commands that neither use an index nor move a branch need no permission.
_HARMLESS = frozenset(
    {
        *("archive", "bundle", "cat-file", "check-ref-format", "config", "count-objects"),
        *("diff-tree", "fmt-merge-msg", "for-each-ref", "fsck", "get-tar-commit-id", "hash-object", "help"),
        *("interpret-trailers", "log", "ls-remote", "ls-tree", "merge-base", "name-rev", "notes", "patch-id"),
        *("range-diff", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-branch", "show-ref", "tag"),
        *("var", "verify-commit", "verify-tag", "version", "whatchanged"),
    }
)
_WITH_VALUE = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source")
)
_INDEX = "GIT_INDEX_FILE"
_REFUSED, _OUT_OF_REACH = 1, 4
_ATTEMPTS = 20
_PAUSE_SECONDS = 0.05
# A wait that ends within two seconds is not announced.
_SILENT_ATTEMPTS = 40


def main(folder: str, words: list[str]) -> int:
    """Call git with these arguments, as the session may; return its exit status."""
    git = _git_behind(folder)
    socket = os.environ.get("COMMONHOLD_SOCKET", "")
    if git is None:
        say("there is no git in PATH")
        return NOT_FOUND
    if not socket or _command(words) in _HARMLESS:
        become([git, *words])
    try:
        return _attempted(git, socket, words)
    except Unserved as fault:
        say(f"git was not run: {fault}. Next: {fault.next}")
        return _OUT_OF_REACH


def _git_behind(folder: str) -> "str | None":
    """Return the next git in PATH behind this one; it may stand in for git too, in the shell of another repository."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    while folder in places:
        places = places[places.index(folder) + 1 :]
    for place in places:
        path = os.path.join(place or ".", "git")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def _command(words: list[str]) -> str:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    return words[at] if at < len(words) else "version"


def _attempted(git: str, socket: str, words: list[str]) -> int:
    question = _question(words)  # only once: it does not include the changes that are made to git's environment
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        status, is_done = _called(git, socket, question)
        if is_done:
            return status
    say("git's work was taken back each time, since others moved HEAD meanwhile. Next: run it again")
    return _REFUSED


def _called(git: str, socket: str, question: Object) -> "tuple[int, bool]":
    """Call git once; return its exit status and whether no further call is needed."""
    answer = asked_of_next(socket, "/git", question)
    locks = []
    try:
        if "turns" in answer:
            locks = [_locked(path) for path in answer["turns"]]
            answer = asked_of_next(socket, "/git", {**question, "has_turn": 1})
        if "fetch" in answer:
            run([git, *answer["fetch"]], Allowance(UNBOUND))
            answer = asked_of_next(socket, "/git", {**question, "has_turn": 1, "has_fetched": 1})
        if answer.get("refusal"):
            say(answer["refusal"])
            return _REFUSED, True
        return _run(git, socket, question["argv"], answer)
    finally:
        for lock in locks:
            os.close(lock)


def _question(words: list[str]) -> Object:
    told = {"index": _INDEX, "git_dir": "GIT_DIR", "work_tree": "GIT_WORK_TREE", "holder": "COMMONHOLD_HOLDER"}
    told["temporary"] = "TMPDIR"
    return {"cwd": _folder(), "argv": words, **{name: os.environ.get(each, "") for name, each in told.items()}}


def _folder() -> str:
    """Return the folder in which git is called; if it is gone, git acts only on another one that the call names."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _locked(path: str) -> int:
    """Open and lock a file that no other process has locked: the kernel releases the lock when this process ends."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    for _ in range(_SILENT_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return descriptor
    say("git waits: another call of git is under way in this working tree (its editor or a hook may take long)")
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _run(git: str, socket: str, words: list[str], answer: Object) -> "tuple[int, bool]":
    for name, value in answer["env"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if answer.get("say"):
        say(answer["say"])
    command = [git, *answer.get("argv", words)]
    if "after" not in answer:
        become(command)
    status = run(command, Allowance(UNBOUND))
    sys.stdout.flush()
    try:
        told = asked_of_next(socket, "/git/end", {"after": answer["after"], "status": status})
    except Unserved as fault:
        say(f"git was run, but its end could not be reported: {fault}. Next: git status, before anything else")
        return status, True
    if told.get("say"):
        say(told["say"])
    return status, not told.get("again")
