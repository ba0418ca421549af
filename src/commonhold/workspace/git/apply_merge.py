"""Put the result of a merge into the user's working tree and branch, without overwriting uncommitted changes."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from commonhold.merging.branches.histories import Blob, BothChanged, Meeting, Settled
from commonhold.workspace.git.by_lines import only_by_lines
from commonhold.workspace.git.objects import INDEX, changes, index_line, put_in_index, removal_line, write_blobs
from commonhold.workspace.git.process import Done, Git, overriding

# The strategy is named, since settings may name another: one that takes a side would throw the merge away.
_PLAIN: Final = ("--strategy=ort", "--quiet", "--no-stat", "--no-autostash", "--no-verify-signatures")
_UNDER_WAY: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or am",
}


def under_way(git: Git, git_dir: str) -> str | None:
    """Return the unfinished operation in the working tree; None if there is none."""
    for name, what in _UNDER_WAY.items():
        if os.path.lexists(os.path.join(git_dir, name)):
            return f"{what} is under way"
    return "files are unmerged" if git.ask("ls-files", "--unmerged", "-z") else None


def touched(git: Git, meeting: Meeting, tree: str) -> tuple[str, ...]:
    """The paths that `tree` would change."""
    return tuple(changes(git, meeting.ours.commit, tree))


def in_the_way(git: Git, meeting: Meeting, tree: str) -> tuple[str, ...]:
    """The paths that `tree` would change and that are not as committed: changed, staged, or there without git."""
    found = changes(git, meeting.ours.commit, tree)
    status = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=dirty")
    entries = git.ask("--no-optional-locks", *status).split(b"\0")
    dirty = {os.fsdecode(entry[3:]) for entry in entries if entry}
    new = (path for path, each in found.items() if each.old is None)
    there = {path for path in new if os.path.lexists(os.path.join(git.root, path))}
    return tuple(sorted(found.keys() & (dirty | there)))


def message_for(git: Git, meeting: Meeting) -> str:
    """The message that git gives such a merge."""
    asked = f"{meeting.theirs.commit}\t\t{meeting.branch} of .\n"
    return git.ask("fmt-merge-msg", given=os.fsencode(asked)).decode("utf-8", "surrogateescape").strip()


def commit(git: Git, meeting: Meeting, tree: str, message: str | None) -> str:
    """A commit that no branch has yet."""
    text = f"{message or message_for(git, meeting)}\n".encode("utf-8", "surrogateescape")
    parents = ("-p", meeting.ours.commit, "-p", meeting.theirs.commit)
    return git.ask("commit-tree", tree, *parents, given=text).decode().strip()


def advance(git: Git, meeting: Meeting, made: str) -> str | None:
    """Move files, index and branch by one command of git, which otherwise refuses and leaves all as it is."""
    if git.line("rev-parse", "--verify", "HEAD") != meeting.ours.commit:
        return "the branch has moved meanwhile"
    settings = overriding(_without_options(meeting)) | {"GIT_REFLOG_ACTION": f"merge {meeting.theirs.name}"}
    done = git.finish("merge", "--ff-only", "--no-overwrite-ignore", *_PLAIN, made, settings=settings)
    if done.returncode:
        return _said(done)
    return (
        None if git.line("rev-parse", "--verify", "HEAD") == made else "git has made another thing of it: see `git log`"
    )


def _without_options(meeting: Meeting) -> dict[str, str]:
    """Return settings that clear the options of every merge into this branch: they could change the result."""
    return {f"branch.{meeting.ours.name}.mergeOptions": ""}


def _said(done: Done) -> str:
    return done.stderr.decode("utf-8", "replace").strip() or f"git ended with status {done.returncode}"


def stand(
    git: Git,
    git_dir: str,
    meeting: Meeting,
    settled: Mapping[str, Settled],
    conflicts: Mapping[BothChanged, bytes | None],
    message: str | None,
) -> str | None:
    """Let git begin its own merge, then write our better results over it: `git merge --abort` undoes all of it."""
    words = ("merge", "--no-commit", "--no-ff", "--no-rerere-autoupdate", *_PLAIN)
    text = message or message_for(git, meeting)
    settings = overriding(only_by_lines(git) | _without_options(meeting))
    done = git.finish(*words, "-m", text, meeting.theirs.commit, settings=settings)
    if not Path(git_dir, "MERGE_HEAD").exists():
        return _said(done)
    _put_over(git, settled, conflicts)
    return None


def _put_over(git: Git, settled: Mapping[str, Settled], conflicts: Mapping[BothChanged, bytes | None]) -> None:
    texts = {file: text for file, text in conflicts.items() if text is not None}
    marked = {file.path: Settled(text, (file.merged or file.ours).mode) for file, text in texts.items()}
    shown = {**settled, **marked}
    ids = write_blobs(git, [each.source for each in shown.values()])
    blobs = {path: Blob(each.mode, blob_id) for (path, each), blob_id in zip(shown.items(), ids, strict=True)}
    ours = {file.path: file.ours for file in conflicts if file not in texts}
    _write_files(git, {**blobs, **ours})
    lines = [index_line(path, blobs[path]) for path in settled]
    for file in conflicts:
        stages = {1: file.base, 2: file.ours, 3: file.theirs}
        lines.append(removal_line(file.path, file.ours.id))
        lines += [index_line(file.path, blob, stage) for stage, blob in stages.items() if blob is not None]
    put_in_index(git, lines, {})
    git.run("update-index", "-q", "--refresh")


def _write_files(git: Git, blobs: Mapping[str, Blob]) -> None:
    """Check the blobs out into the working tree, as git does it, by an index of their own."""
    with tempfile.TemporaryDirectory(prefix="commonhold-") as folder:
        settings = {INDEX: os.path.join(folder, "index")}
        put_in_index(git, [index_line(path, blob) for path, blob in blobs.items()], settings)
        git.ask("checkout-index", "--all", "--force", "--quiet", settings=settings)
