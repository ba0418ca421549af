"""The past commits of a repository: their messages, and the paths that they changed."""

from typing import Final

from commonhold.workspace.git.process import Git

_BEGIN: Final = "\x01"
_END: Final = "\x02"
_WORDS: Final = (
    *("log", "-z", "--no-merges", "--no-renames", "--name-only", "--no-show-signature", "--encoding=UTF-8"),
    "--format=%x01%B%x02",
)


def past_commits(git: Git, most: int, revision: str = "HEAD") -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the newest commits before and at a revision: (message, changed paths). Merges are left out.

    Empty for a repository without commits.
    """
    done = git.run(*_WORDS, f"--max-count={most}", "--end-of-options", revision, "--")
    if done.returncode:
        return ()
    found: list[tuple[str, tuple[str, ...]]] = []
    for record in done.stdout.decode("utf-8", "surrogateescape").split(_BEGIN)[1:]:
        message, _, names = record.partition(_END)
        paths = tuple(name for each in names.split("\0") if (name := each.strip("\n")))
        found.append((message.strip(), paths))
    return tuple(found)
