"""Records on the disk of running shell commands: with them the next daemon continues after a killed one.

A record is a hint that may be lost: it is not flushed to the disk, and not needed while the daemon lives. After a power
failure no command runs any more.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from commonhold.agents.runtime.shell_run import Run
from commonhold.agents.runtime.write_protection import Asked
from commonhold.machine.decoding import from_json
from commonhold.machine.system import RandomIds
from commonhold.shell.held_paths import Holding
from commonhold.workspace.survey import Survey
from commonhold.workspace.survey.surveyor import Seen

_FOLDER: Final = "commands"
_PRIVATE: Final = 0o700
_OF_COMMAND: Final = ".command"
_OF_TREE: Final = ".tree"
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True)
class _Tree:
    """The part of a survey that all commands since the last full look share."""

    clean: Mapping[str, str]
    loose: Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """The record of a command: see `Run`. `tree` names the file with the common part of its survey."""

    asked: Asked
    root: str
    masked: tuple[Holding, ...]
    lease_id: str | None
    named: tuple[str, ...]
    sequence: int
    begun_ns: int
    head: str
    launcher: str
    tree: str
    since: Mapping[str, Seen | None]


class CommandRecords:
    """The records in one state folder. Many threads may write at once."""

    def __init__(self, state_folder: str) -> None:
        """Keep records there; nothing is read or written yet."""
        self._folder = Path(state_folder, _FOLDER)
        self._ids = RandomIds()
        self._newest: dict[str, tuple[_Tree, str]] = {}
        self._trees: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, run: Run) -> None:
        """Record a command that begins; without a record only the next daemon loses it."""
        ticket, root = run.asked.ticket, run.session.root
        with suppress(OSError, UnicodeEncodeError):  # the disk is full, say; or a word of the command is no text
            with self._lock:
                self._trees[ticket] = tree = self._tree(root, run.before)
            record = CommandRecord(
                run.asked,
                root,
                run.leave.masked,
                run.leave.lease_id,
                run.named,
                run.sequence,
                run.begun_ns,
                run.head,
                run.launcher,
                tree,
                run.before.since,
            )
            self._write(f"{ticket}{_OF_COMMAND}", record)

    def _tree(self, root: str, survey: Survey) -> str:
        """Return the name of the file with the common part of a survey; write it if it is new."""
        newest, name = self._newest.get(root, (None, ""))
        if newest is None or newest.clean is not survey.clean or newest.loose is not survey.loose:
            self._newest.pop(root, None)
            self._remove_unused(name)
            newest, name = _Tree(survey.clean, survey.loose), f"{self._ids.new('files')}{_OF_TREE}"
            self._write(name, newest)
            self._newest[root] = newest, name
        return name

    def _write(self, name: str, value: object) -> None:
        self._folder.mkdir(_PRIVATE, exist_ok=True)
        self._folder.joinpath(name).write_bytes(msgspec.json.encode(value))

    def forget(self, ticket: str) -> None:
        """Remove the record of a command."""
        with self._lock:
            tree = self._trees.pop(ticket, "")
            with suppress(OSError):
                self._folder.joinpath(f"{ticket}{_OF_COMMAND}").unlink(missing_ok=True)
            self._remove_unused(tree)

    def _remove_unused(self, tree: str) -> None:
        is_used = tree in self._trees.values() or any(tree == name for _, name in self._newest.values())
        if tree and not is_used:
            with suppress(OSError):
                self._folder.joinpath(tree).unlink(missing_ok=True)

    def left(self) -> list[tuple[CommandRecord, Survey]]:
        """Return an earlier daemon's commands, each with its survey at the beginning. Remove unreadable records."""
        found, trees = [], dict[str, _Tree | None]()
        for path in sorted(self._folder.glob(f"*{_OF_COMMAND}")):
            record = _read(path, CommandRecord)
            if record and record.tree not in trees:
                trees[record.tree] = _read(self._folder / record.tree, _Tree)
            if record and (tree := trees[record.tree]):
                found.append((record, Survey(tree.clean, tree.loose, record.since)))
                self._trees[record.asked.ticket] = record.tree
            else:
                path.unlink(missing_ok=True)
        for path in self._folder.glob(f"*{_OF_TREE}"):
            self._remove_unused(path.name)
        return found

    def close(self) -> None:
        """Remove the files that no running command needs."""
        with self._lock:
            newest, self._newest = self._newest, {}
            for _, name in newest.values():
                self._remove_unused(name)
            with suppress(OSError):  # not empty, or not there
                self._folder.rmdir()


def _read(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Return the record in a file; None if it is gone, cut off, or of another version."""
    try:
        return from_json(path.read_bytes(), kind)
    except (OSError, ValueError):
        return None
