"""The files by which agents in separate clones claim tasks, as bytes and as values.

    tasks/pending/NAME.yml       a task: `title`, `needs`, `priority`; every field may be left out
    tasks/done/NAME.yml          the same file, once the task is complete
    current_tasks/NAME.lock      a claim: lines `agent:`, `claimed:`, `task:`; ours add `claim:`, `fence:`, …
    current_tasks/NAME.fence     the highest fence of the task: it stays when the claim ends, so that none repeats

A shell script may write any of them. A lock counts as a claim whatever is in it, even if it is empty.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from commonhold.tasks.yaml_text import read_yaml, text_of

PENDING: Final = "tasks/pending"
DONE: Final = "tasks/done"
CURRENT: Final = "current_tasks"
FOLDERS: Final = (PENDING, DONE, CURRENT)
MOST_BYTES: Final = 16_384
TTL_SECONDS: Final = 1_800.0
MOST_TTL_SECONDS: Final = 86_400.0
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TASK_FILE: Final = re.compile(r"(.+)\.ya?ml")


@dataclass(frozen=True, slots=True)
class Task:
    """A pending task. A higher `priority` is offered first; `problem` says why the file cannot be understood."""

    name: str
    title: str = ""
    needs: tuple[str, ...] = ()
    priority: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    """A claim as its file states it. `object_id` is git's name for the file's bytes; it changes with every heartbeat.

    `claim` is empty and `fence` 0 if a script wrote the lock. `claimed` is text for people: nothing is decided by it.
    """

    task: str
    object_id: str
    agent: str = ""
    claimed: str = ""
    claim: str = ""
    fence: int = 0
    ttl_seconds: float = TTL_SECONDS
    heartbeat: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """All claim files at one commit. `generation` counts the commits up to it."""

    commit: str = ""
    generation: int = 0
    tasks: Mapping[str, Task] = field(default_factory=dict)
    locks: Mapping[str, Lock] = field(default_factory=dict)
    fences: Mapping[str, int] = field(default_factory=dict)
    done: frozenset[str] = frozenset()
    sources: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    """Path and bytes of each pending task's file."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a commit: git's name for its bytes, and the bytes; those of a file that is too large are left out."""

    object_id: str
    content: bytes


def is_name(text: str) -> bool:
    """Whether a task may have this name: it becomes the name of a file."""
    return _NAME.fullmatch(text) is not None and not text.endswith(".lock")


def board(commit: str, generation: int, files: Mapping[str, File]) -> Board:
    """Read the claim files of a commit, given by path. Files with other names are ignored."""
    tasks: dict[str, Task] = {}
    locks: dict[str, Lock] = {}
    fences: dict[str, int] = {}
    sources: dict[str, tuple[str, bytes]] = {}
    done: set[str] = set()
    for path, file in files.items():
        folder, _, base = path.rpartition("/")
        stem, _, ending = base.rpartition(".")
        if not is_name(stem):
            continue
        is_task = _TASK_FILE.fullmatch(base) is not None
        if folder == PENDING and is_task:
            tasks[stem], sources[stem] = task(stem, file.content), (path, file.content)
        elif folder == DONE and is_task:
            done.add(stem)
        elif folder == CURRENT and ending == "lock":
            locks[stem] = lock(stem, file)
        elif folder == CURRENT and ending == "fence":
            fences[stem] = _whole(_lines(file.content).get("fence", ""))
    return Board(commit, generation, tasks, locks, fences, frozenset(done), sources)


def task(name: str, content: bytes) -> Task:
    """Read a task's file. What cannot be understood becomes the task's `problem`; such a task is never offered."""
    try:
        read = read_yaml(content) if len(content) <= MOST_BYTES else None
    except ValueError as fault:
        return Task(name, problem=f"its file is not valid YAML: {fault}")
    if not content.strip():
        read = {}
    if not isinstance(read, dict):
        return Task(name, problem="its file is not a YAML mapping of at most 16 KiB")
    needs, priority = read.get("needs") or [], read.get("priority", 0)
    title = text_of(read, "title", "task")
    if title is None:
        return Task(name, problem="`title` is no text")
    needed = [needs] if isinstance(needs, str) else needs
    if not isinstance(needed, list) or not all(isinstance(each, str) and is_name(each) for each in needed):
        return Task(name, title, problem="`needs` is not a list of names of tasks")
    if isinstance(priority, bool) or not isinstance(priority, int | float) or priority != priority:  # noqa: PLR0124 - NaN
        return Task(name, title, problem="`priority` is not a number")
    return Task(name, title, tuple(dict.fromkeys(needed)), float(priority))


def lock(name: str, file: File) -> Lock:
    """Read a lock."""
    lines = _lines(file.content)
    return Lock(
        name,
        file.object_id,
        lines.get("agent", ""),
        lines.get("claimed", ""),
        lines.get("claim", ""),
        _whole(lines.get("fence", "")),
        _ttl(lines.get("ttl_seconds", "")),
        _whole(lines.get("heartbeat", "")),
    )


def lock_path(name: str) -> str:
    """Where a task's lock lies."""
    return f"{CURRENT}/{name}.lock"


def fence_path(name: str) -> str:
    """Where a task's highest fence is kept."""
    return f"{CURRENT}/{name}.fence"


def lock_text(held: Lock) -> bytes:
    """The bytes of a lock of ours."""
    lines = {
        "agent": held.agent,
        "claimed": held.claimed,
        "task": held.task,
        "claim": held.claim,
        "fence": held.fence,
        "ttl_seconds": f"{held.ttl_seconds:g}",
        "heartbeat": held.heartbeat,
    }
    return "".join(f"{key}: {' '.join(str(value).split())}\n" for key, value in lines.items()).encode()


def fence_text(fence: int) -> bytes:
    """The bytes of the file that keeps a fence."""
    return f"fence: {fence}\n".encode()


def _lines(content: bytes) -> dict[str, str]:
    """The `key: value` lines; of a repeated key the first."""
    found: dict[str, str] = {}
    for line in content[:MOST_BYTES].decode("utf-8", "replace").splitlines():
        key, mark, value = line.partition(":")
        if mark:
            found.setdefault(key.strip().lower(), value.strip())
    return found


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0  # noqa: PLR2004 - 15 digits are a number


def _ttl(text: str) -> float:
    """Return a lock's time to live, within bounds: no claim lasts forever without a heartbeat."""
    try:
        seconds = float(text)
    except ValueError:
        return TTL_SECONDS
    return min(max(seconds, 1.0), MOST_TTL_SECONDS) if seconds == seconds else TTL_SECONDS  # noqa: PLR0124 - NaN
