"""The ports of the runner of a merge queue: the queue, the branch and the checks, and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commonhold.coordinator.roles import Stop
from commonhold.kernel.entry import EntryRecord, RepairPacket
from commonhold.landing.commands import EntryStep
from commonhold.workspace.git.integration import Move


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of checks on a tree: whether all passed; else the first that did not, why, and the end of its output.

    `is_stopped`: they were ended before they had a result. Without a `check`, the tree could not be copied.
    `may_be_machine`: the cause may be this machine, which has no such command.
    """

    passed: bool
    check: str = ""
    why: str = ""
    output: str = ""
    is_stopped: bool = False
    may_be_machine: bool = False


class QueuePort(Protocol):
    """The entries of one branch, under the runner's lease. Both methods raise QueueLostError when that has ended."""

    def entries(self) -> tuple[EntryRecord, ...]:
        """Return the entries that have not ended, oldest first."""
        ...

    def post(self, *steps: EntryStep) -> tuple[EntryRecord, ...]:
        """Post steps, all or none, and return the entries after them: none if one of them has moved on."""
        ...


class BranchPort(Protocol):
    """The branch that the entries land on, and merges that are made for it. Only `move` and `attribute` write refs.

    Any method may raise StoreError and OSError.
    """

    def head(self) -> str:
        """Return the commit of the branch. Raises InputError if there is no such branch."""
        ...

    def probe(self) -> None:
        """Write an object and open the index, as a merge does. Raises StoreError or OSError if this machine cannot."""
        ...

    def is_part(self, commit: str, head: str) -> bool:
        """Whether a commit is part of `head`."""
        ...

    def touched(self, commit: str, head: str) -> frozenset[str]:
        """Return the canonical keys that a commit changes, compared with its common ancestor with `head`."""
        ...

    def merged(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        """Return the commit that merges an entry into `head`, or why not. `has_checks`: they decide suspicions."""
        ...

    def beside(self, commit: str, head: str) -> tuple[str, ...]:
        """Return the ids of the entries that have landed since a commit left the branch."""
        ...

    def move(self, old: str, new: str) -> Move:
        """Move the branch from `old` to `new`, by compare-and-swap; its remote, if it has one, before itself."""
        ...

    def attribute(self, record: EntryRecord) -> None:
        """Note session, agent and task at the commits that a landed entry has added; again does no harm."""
        ...


@dataclass(frozen=True, slots=True)
class Build:
    """A build: checks to run, in their order, on a fresh copy of the tree of a commit."""

    commit: str
    checks: tuple[str, ...]


class ChecksPort(Protocol):
    """The checks of the project."""

    @property
    def everywhere(self) -> tuple[str, ...]:
        """Return the checks that every tree must pass."""
        ...

    def reports(self, trees: Sequence[Build], stop: Stop) -> tuple[CheckReport, ...]:
        """Run the checks of one tree, or of two at the same time; end all when `stop` is set.

        When the first tree has passed, the other's checks are ended: its report is then `is_stopped`. Raises StoreError
        if this machine cannot run them.
        """
        ...


class QueueLostError(Exception):
    """The lease of the runner has ended, or another has taken the queue over. `why` is a sentence."""

    def __init__(self, why: str) -> None:
        """Say why."""
        super().__init__(why)
        self.why = why
