"""Find the commits that an undo means, those of them that are in effect, and the later commits to the same files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from commonhold.commits.external.adoption import is_part_of
from commonhold.kernel.compacted import is_compacted, told_compacted, was_compacted
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Committed, Recorded
from commonhold.kernel.ports import Reader
from commonhold.kernel.task import TaskRecord
from commonhold.kernel.undone_commits import undone_by
from commonhold.kernel.values import MAX_NUMBER

MOST_COMMITS: Final = 10_000
"""How far back the commits of a session or task, and those to a file, are looked for."""
TASK: Final = "task:"


class Made(NamedTuple):
    """A commit in the log."""

    recorded: Recorded
    commit: Committed

    @property
    def sequence(self) -> int:
        """The number of its event."""
        return self.recorded.sequence


@dataclass(frozen=True, slots=True)
class Selected:
    """The commits to undo, newest first, and `since`: all commits to their files from the oldest of them on.

    `undone` maps each commit that an undo has taken back, and whose undo is still in effect, to that undo.
    """

    commits: tuple[Made, ...]
    since: tuple[Made, ...]
    undone: Mapping[int, int]

    @property
    def live(self) -> tuple[Made, ...]:
        """The commits that are still in effect."""
        return tuple(each for each in self.commits if each.sequence not in self.undone)

    def later(self, path: str, after: int) -> tuple[Made, ...]:
        """Return the commits to the file at `path` after that number that are in effect, and not to be undone."""
        ended = {*self.undone, *self.undone.values(), *(each.sequence for each in self.commits)}
        return tuple(
            each
            for each in self.since
            if each.sequence > after
            and each.sequence not in ended
            and any(file.path == path and file.before != file.after for file in each.commit.files)
        )


def select(reader: Reader, worktree: str, what: str, task: TaskRecord | None) -> Selected:
    """Return the commits in `worktree` that `what` means: an event number, a task, or a session with its subagents.

    `task` is the task of that name, if there is one. Raises InputError `COMMIT_UNKNOWN` if there is no such commit.
    """
    if what.isascii() and what.isdigit():
        commits = _numbered(reader, worktree, min(int(what[:20]), MAX_NUMBER - 1))
    else:
        latest = [Made(*each) for each in reader.latest_commits(MOST_COMMITS)]
        recent = [each for each in latest if _is_work(each, worktree)]
        commits = [] if what.startswith(TASK) else [each for each in recent if is_part_of(each.commit.holder, what)]
        if not commits and task is not None:
            commits = [each for each in recent if _is_for(task, each)]
    if not commits:
        raise _unknown(reader, what, is_task=task is not None)
    return _selected(reader, worktree, commits)


def selected_by(reader: Reader, worktree: str, undo: Made) -> Selected:
    """Return the commits that `undo` has taken back, with the commits to their files before it."""
    found = [made for number in undo.commit.undoes for made in _numbered(reader, worktree, number)]
    selected = _selected(reader, worktree, found)
    return Selected(selected.commits, tuple(each for each in selected.since if each.sequence < undo.sequence), {})


def made_at(reader: Reader, sequence: int) -> Made | None:
    """Return the commit that is the event of that number; None if it is no commit."""
    events = reader.events(after=max(0, sequence - 1), limit=1)
    return next((Made(e, e.event) for e in events if isinstance(e.event, Committed) and e.sequence == sequence), None)


def _numbered(reader: Reader, worktree: str, number: int) -> list[Made]:
    made = made_at(reader, number)
    return [made] if made is not None and _is_work(made, worktree) else []


def _is_work(made: Made, worktree: str) -> bool:
    """Whether a commit changed files there. An adoption changes none."""
    return made.commit.worktree == worktree and bool(made.commit.files) and not made.commit.adopts


def _is_for(task: TaskRecord, made: Made) -> bool:
    """Whether a commit is part of the task's result, or was made during an attempt by the session that attempted it."""
    at = made.recorded.at
    return (task.result is not None and made.sequence in task.result.admitted) or any(
        is_part_of(made.commit.holder, each.holder) and each.began_at <= at <= (each.ended_at or at)
        for each in task.attempts
    )


def _selected(reader: Reader, worktree: str, commits: Sequence[Made]) -> Selected:
    paths = dict.fromkeys(file.path for each in commits for file in each.commit.files)
    oldest = min((each.sequence for each in commits), default=0)
    found = {
        recorded.sequence: Made(recorded, commit)
        for path in paths
        for recorded, commit in reader.commits_on(path, MOST_COMMITS)
        if commit.worktree == worktree and recorded.sequence >= oldest
    }
    since = tuple(found[sequence] for sequence in sorted(found, reverse=True))
    return Selected(tuple(commits), since, undone_by(since))


def _unknown(reader: Reader, what: str, *, is_task: bool) -> InputError:
    if what.isascii() and what.isdigit() and is_compacted(reader, int(what[:20])):
        return was_compacted(reader, f"the commit {what} cannot be undone")
    if is_task:
        why = f"no commit through Commonhold in this working tree belongs to an attempt at the task {what}"
    else:
        named = f"event {what} is no commit" if what.isdigit() else f"no session and no task {what!r} has committed"
        why = f"{named} in this working tree through Commonhold"
    gone = told_compacted(reader)
    return InputError(
        Code.COMMIT_UNKNOWN,
        f"{why}; {gone}" if gone else why,
        hint="`commonhold log` shows every commit with its number and its session",
        fields={"what": what},
    )
