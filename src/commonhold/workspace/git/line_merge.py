"""Git's own merge of two commits, by lines, without touching a file; and which files both sides changed."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from commonhold.merging.branches.histories import Blob, Blocked, BothChanged, LineMerge, Meeting, Obstacle
from commonhold.workspace.git.by_lines import only_by_lines
from commonhold.workspace.git.objects import loose_commit
from commonhold.workspace.git.process import Git, failed, overriding
from commonhold.workspace.git.rename_tracking import traced

_CONFLICTED: Final = 1
_JOINED: Final = "Auto-merging"
_OF_TEXT: Final = frozenset({_JOINED, "CONFLICT (contents)", "CONFLICT (binary)"})
_OBSTACLES: Final = {
    "submodule": Obstacle.SUBMODULE,
    "delete": Obstacle.DELETED,
    "rename": Obstacle.RENAMED,
    "modes": Obstacle.MODE,
    "directory": Obstacle.PLACE,
}


def merge_lines(git: Git, meeting: Meeting) -> LineMerge:
    """The merge by lines."""
    if meeting.is_told:
        meeting = _begun_at(git, meeting)
    words = ("merge-tree", "--write-tree", "-z", "--messages", meeting.ours.commit, meeting.theirs.commit)
    done = git.run(*words, settings=overriding(only_by_lines(git)))
    if done.returncode > _CONFLICTED or done.returncode < 0:
        raise failed("merge-tree", done)
    told = _parse(done.stdout.split(b"\0"))
    blocked, conflicted = _sorted_out(told, meeting)
    clean, lost = _joined(git, meeting, told)
    return LineMerge(told.tree, (*conflicted, *clean), (*blocked, *lost))


def _begun_at(git: Git, meeting: Meeting) -> Meeting:
    """Return the same with unreferenced commits, right above the given base: then git finds no other base."""
    (base,) = meeting.bases
    ours, theirs = (
        replace(side, commit=loose_commit(git, f"{side.commit}^{{tree}}", base))
        for side in (meeting.ours, meeting.theirs)
    )
    return replace(meeting, ours=ours, theirs=theirs, is_told=False)


def _joined(git: Git, meeting: Meeting, told: "_Told") -> tuple[list[BothChanged], list[Blocked]]:
    """Return the files whose lines were merged without a conflict, and those of them that cannot be checked."""
    paths = [path for path in told.joined if path not in told.stages]
    if not paths:
        return [], []
    found = traced(git, meeting, common_base(git, meeting.bases), told.tree, paths)
    looked_at = [_checked(found[path]) if path in found else _untraced(path) for path in paths]
    return (
        [each for each in looked_at if isinstance(each, BothChanged)],
        [each for each in looked_at if isinstance(each, Blocked)],
    )


def _untraced(path: str) -> Blocked:
    return Blocked(path, Obstacle.RENAMED, "its lines were merged across a rename that cannot be followed")


@dataclass(slots=True)
class _Told:
    """Git's output: the tree, the stages of conflicted paths, and its messages by kind."""

    tree: str
    stages: dict[str, dict[int, Blob]] = field(default_factory=dict)
    messages: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)

    @property
    def joined(self) -> list[str]:
        """The paths in which both sides' lines were merged."""
        return [path for kind, paths, _ in self.messages if kind == _JOINED for path in paths]


def _parse(parts: Sequence[bytes]) -> _Told:
    told, rest = _Told(parts[0].decode("ascii")), iter(parts[1:])
    for entry in rest:
        if not entry:
            break
        about, _, path = entry.partition(b"\t")
        mode, blob_id, stage = about.decode("ascii").split(" ")
        told.stages.setdefault(os.fsdecode(path), {})[int(stage)] = Blob(mode, blob_id)
    for count in rest:
        # Advice about submodules comes after the messages, and in no fixed form.
        if not count.isdigit():
            break
        paths = tuple(os.fsdecode(next(rest)) for _ in range(int(count)))
        kind, message = (next(rest).decode("utf-8", "surrogateescape") for _ in range(2))
        told.messages.append((kind, paths, message.strip()))
    return told


def _sorted_out(told: _Told, meeting: Meeting) -> tuple[list[Blocked], list[BothChanged]]:
    """Return the conflicts that are not about text, and the files in which changed lines of both sides conflict."""
    others = [each for each in told.messages if each[0].startswith("CONFLICT") and each[0] not in _OF_TEXT]
    blocked: list[Blocked] = []
    for kind, paths, message in others:
        place, why = paths[0] if paths else "", message
        for side in (meeting.ours, meeting.theirs):
            # Git names the sides by their commits, and adds one to a path if two things need the same place.
            place, why = place.removesuffix(f"~{side.commit}"), why.replace(side.commit, side.name)
        obstacle = next((each for word, each in _OBSTACLES.items() if word in kind), Obstacle.OTHER)
        blocked.append(Blocked(place, obstacle, why.partition(": ")[2] or why))
    named = {path for _, paths, _ in others for path in paths}
    conflicted: list[BothChanged] = []
    for path, stages in told.stages.items():
        if path in named:
            continue
        base, ours, theirs = (stages.get(stage) for stage in (1, 2, 3))
        if ours is None or theirs is None:
            blocked.append(Blocked(path, Obstacle.OTHER, "it is there on one side only"))
            continue
        match _checked(BothChanged(path, base, ours, theirs, None)):
            case BothChanged() as file:
                conflicted.append(file)
            case Blocked() as obstructed:
                blocked.append(obstructed)
    return blocked, conflicted


def _checked(file: BothChanged) -> BothChanged | Blocked:
    """The file, if all its versions are text files, and their permission bits do not contradict each other."""
    modes = {blob.mode for blob in file.versions}
    if "160000" in modes:
        return Blocked(file.path, Obstacle.SUBMODULE, "both sides changed which commit of the submodule they want")
    if "120000" in modes:
        return Blocked(file.path, Obstacle.LINK, "it is a symbolic link on one side, and both sides changed it")
    if file.base is None and file.ours.mode != file.theirs.mode:
        return Blocked(file.path, Obstacle.MODE, "both sides made it, one of them executable")
    return file


def common_base(git: Git, bases: Sequence[str]) -> str:
    """Return the common base of both sides. If histories cross, git merges all their common commits: so do we."""
    base, *others = bases
    for number, other in enumerate(others, 1):
        done = git.run("merge-tree", "--write-tree", "-z", base, other, settings=overriding(only_by_lines(git)))
        if done.returncode > _CONFLICTED or done.returncode < 0:
            raise failed("merge-tree", done)
        base = done.stdout.partition(b"\0")[0].decode("ascii")
        if number < len(others):
            base = loose_commit(git, base, bases[number - 1], other)
    return base
