"""Git's own merge of two commits, by lines, without touching a file; and which files both sides changed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from commonhold.adapters.git.objects import Change, changes
from commonhold.adapters.git.running import Git, failed, overriding
from commonhold.app.histories import Blob, Blocked, BothChanged, LineMerge, Meeting, Obstacle

_CONFLICTED: Final = 1
_RENAMES: Final = ("-M", "-l7000")
_JOINED: Final = "Auto-merging"
_OF_TEXT: Final = frozenset({_JOINED, "CONFLICT (contents)", "CONFLICT (binary)"})
_OBSTACLES: Final = {
    "submodule": Obstacle.SUBMODULE,
    "delete": Obstacle.DELETED,
    "rename": Obstacle.RENAMED,
    "modes": Obstacle.MODE,
    "directory": Obstacle.PLACE,
}
_BY_LINES: Final = "git merge-file --quiet --marker-size=%L %A %O %B"


def only_by_lines(git: Git) -> dict[str, str]:
    """Settings under which git merges by lines alone: no driver that is configured (ours, too) is run."""
    listed = git.run("config", "-z", "--name-only", "--get-regexp", r"^merge\..*\.driver$").stdout.split(b"\0")
    named = {os.fsdecode(name): _BY_LINES for name in listed if name}
    return {"merge.default": "text", "rerere.enabled": "false", **named}


def merge_lines(git: Git, meeting: Meeting) -> LineMerge:
    """The merge by lines."""
    words = ("merge-tree", "--write-tree", "-z", "--messages", meeting.ours.commit, meeting.theirs.commit)
    done = git.run(*words, settings=overriding(only_by_lines(git)))
    if done.returncode > _CONFLICTED or done.returncode < 0:
        raise failed("merge-tree", done)
    told = _parse(done.stdout.split(b"\0"))
    blocked, conflicted = _sorted_out(told, meeting)
    joined = [path for path in told.joined if path not in told.stages]
    clean, lost = _Joined(git, meeting, told.tree).files(joined)
    return LineMerge(told.tree, (*conflicted, *clean), (*blocked, *lost))


@dataclass(slots=True)
class _Told:
    """What git tells: the tree, the stages of conflicted paths, and its messages by kind."""

    tree: str
    stages: dict[str, dict[int, Blob]] = field(default_factory=dict)
    messages: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)

    @property
    def joined(self) -> list[str]:
        """The paths in which both sides' lines were joined."""
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
        # Advice about submodules comes after the messages, and in no form.
        if not count.isdigit():
            break
        paths = tuple(os.fsdecode(next(rest)) for _ in range(int(count)))
        kind, message = (next(rest).decode("utf-8", "surrogateescape") for _ in range(2))
        told.messages.append((kind, paths, message.strip()))
    return told


def _sorted_out(told: _Told, meeting: Meeting) -> tuple[list[Blocked], list[BothChanged]]:
    """What is no matter of text, and which files have both sides' changes in lines that conflict."""
    others = [each for each in told.messages if each[0].startswith("CONFLICT") and each[0] not in _OF_TEXT]
    blocked = [
        Blocked(_place(paths, meeting), _obstacle(kind), _in_names(message, meeting)) for kind, paths, message in others
    ]
    named = {path for _, paths, _ in others for path in paths}
    conflicted: list[BothChanged] = []
    for path, stages in told.stages.items():
        if path in named:
            continue
        match _from_stages(path, stages):
            case BothChanged() as file:
                conflicted.append(file)
            case Blocked() as obstructed:
                blocked.append(obstructed)
    return blocked, conflicted


def _place(paths: tuple[str, ...], meeting: Meeting) -> str:
    """The path that a message is about: where two things want one place, git sets one aside, named after its commit."""
    path = paths[0] if paths else ""
    for side in (meeting.ours, meeting.theirs):
        path = path.removesuffix(f"~{side.commit}")
    return path


def _in_names(message: str, meeting: Meeting) -> str:
    """What git says, with the names of the sides for the commits that it was given."""
    for side in (meeting.ours, meeting.theirs):
        message = message.replace(side.commit, side.name)
    return message.partition(": ")[2] or message


def _obstacle(kind: str) -> Obstacle:
    return next((each for word, each in _OBSTACLES.items() if word in kind), Obstacle.OTHER)


def _from_stages(path: str, stages: Mapping[int, Blob]) -> BothChanged | Blocked:
    base, ours, theirs = (stages.get(stage) for stage in (1, 2, 3))
    if ours is None or theirs is None:
        return Blocked(path, Obstacle.OTHER, "it is there on one side only")
    return _checked(BothChanged(path, base, ours, theirs, None))


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


@dataclass(frozen=True, slots=True)
class _Joined:
    """The files whose lines were joined without a conflict, traced to the three versions of each."""

    git: Git
    meeting: Meeting
    tree: str

    def files(self, paths: Sequence[str]) -> tuple[list[BothChanged], list[Blocked]]:
        """The files at `paths`, and those that cannot be traced."""
        if not paths:
            return [], []
        base = common_base(self.git, self.meeting.bases)
        result = changes(self.git, self.meeting.ours.commit, self.tree)
        plain = self._since(base)
        renamed: _Diffs | None = None
        found: list[BothChanged | Blocked] = []
        for path in paths:
            file = _traced(path, plain, result)
            if file is None:
                renamed = renamed or self._since(base, *_RENAMES)
                file = _traced(path, renamed, result)
            found.append(_checked(file) if file else Blocked(path, Obstacle.RENAMED, _UNTRACED))
        return (
            [each for each in found if isinstance(each, BothChanged)],
            [each for each in found if isinstance(each, Blocked)],
        )

    def _since(self, base: str, *renames: str) -> "_Diffs":
        sides = (self.meeting.ours.commit, self.meeting.theirs.commit)
        return _Diffs(*(changes(self.git, base, side, *renames) for side in sides))


_UNTRACED: Final = "its lines were merged across a rename that cannot be followed"


@dataclass(frozen=True, slots=True)
class _Diffs:
    """What each side changed since the base."""

    ours: Mapping[str, Change]
    theirs: Mapping[str, Change]

    def versions(self, path: str) -> tuple[Blob, Blob, Blob] | None:
        """Base, ours and theirs of what is at `path` in the result; None where these changes do not tell."""
        mine, other = self.ours.get(path), self.theirs.get(path)
        old_path = (mine or other or _NOWHERE).old_path
        mine, other = mine or _from(old_path, self.ours), other or _from(old_path, self.theirs)
        if mine is None or other is None or mine.old_path != other.old_path:
            return None
        if mine.old is None or mine.new is None or other.new is None:
            return None
        return mine.old, mine.new, other.new


_NOWHERE: Final = Change("", "", None, None)


def _from(old_path: str, found: Mapping[str, Change]) -> Change | None:
    """The change of what was at `old_path`, wherever it is now."""
    if old_path in found:
        return found[old_path]
    return next((each for each in found.values() if each.old_path == old_path), None)


def _traced(path: str, since: _Diffs, result: Mapping[str, Change]) -> BothChanged | None:
    versions = since.versions(path)
    if versions is None:
        return None
    base, ours, theirs = versions
    merged = result[path].new if path in result else ours
    return None if merged is None else BothChanged(path, base, ours, theirs, merged)


def common_base(git: Git, bases: Sequence[str]) -> str:
    """What both sides come from. Where histories cross, git makes it up of all their common commits: so do we."""
    base, *others = bases
    for number, other in enumerate(others, 1):
        done = git.run("merge-tree", "--write-tree", "-z", base, other, settings=overriding(only_by_lines(git)))
        if done.returncode > _CONFLICTED or done.returncode < 0:
            raise failed("merge-tree", done)
        base = done.stdout.partition(b"\0")[0].decode("ascii")
        if number < len(others):
            parents = ("-p", bases[number - 1], "-p", other)
            base = git.ask("commit-tree", base, *parents, given=b"common\n", settings=_NOBODY).decode().strip()
    return base


_NOBODY: Final = {f"GIT_{who}_{what}": "commonhold" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
