"""The files that git tracks or would track, and those that it leaves out in this clone alone."""

import os

from commonhold.workspace.git.process import Git


def exclude_file(git: Git) -> str:
    """Return the path of this clone's own list of excluded files."""
    place = git.ask("rev-parse", "--git-path", "info/exclude").decode("utf-8", "surrogateescape").rstrip("\n")
    return os.path.join(git.root, place)


def is_tracked(git: Git, path: str) -> bool:
    """Whether git tracks the file."""
    return git.run("ls-files", "--error-unmatch", "--", path).returncode == 0


def is_ignored(git: Git, path: str) -> bool:
    """Whether git leaves the file out already."""
    return git.run("check-ignore", "--quiet", "--", path).returncode == 0


def all_files(git: Git) -> frozenset[str]:
    """Return the paths of all files that git tracks or would track."""
    listed = git.ask("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return frozenset(os.fsdecode(each) for each in listed.split(b"\0") if each)
