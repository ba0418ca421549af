"""PURE: the sessions that may claim a task: by its patterns of names, and by the capabilities that it requires."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from commonhold.kernel.task import Task


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The words for what sessions can do, by pattern of their names, as the setting `capabilities` has them."""

    by_pattern: Mapping[str, Iterable[str]] = field(default_factory=dict)

    def of(self, holder: str) -> frozenset[str]:
        """Return the capabilities of a session: those of all patterns that match its full name."""
        matching = (words for pattern, words in self.by_pattern.items() if fnmatchcase(holder, pattern))
        return frozenset(word for words in matching for word in words)

    def why_barred(self, task: Task, holder: str) -> str:
        """Return why this session may never claim the task, as a clause; empty if it may."""
        if task.takers and not any(fnmatchcase(holder, pattern) for pattern in task.takers):
            return f"only {', '.join(task.takers)} may take it"
        missing = [word for word in task.requires if word not in self.of(holder)] if task.requires else []
        return f"it requires {', '.join(missing)}, which this session does not have" if missing else ""

    def why_unclaimable(self, task: Task) -> str:
        """Return that no pattern of names has a capability that the task requires, as a clause; empty otherwise."""
        known = {word for words in self.by_pattern.values() for word in words} if task.requires else set()
        missing = [word for word in task.requires if word not in known]
        return f"no session has {', '.join(missing)}: see the setting `capabilities`" if missing else ""


NONE_KNOWN: Final = Capabilities()


def all_required(tasks: Iterable[Task]) -> Capabilities:
    """Return that every session has all that these tasks require: for a claim that was granted, to be decided again."""
    return Capabilities({"*": frozenset(word for task in tasks for word in task.requires)})
