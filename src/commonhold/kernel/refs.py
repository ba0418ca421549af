"""Branches of git: `main` is short for the ref `refs/heads/main`."""

from typing import Final

BRANCHES: Final = "refs/heads/"
"""The beginning of the full name of every local branch."""


def full_ref(branch: str) -> str:
    """Return the full name of a branch's ref; a name that is full already stays as it is."""
    return branch if branch.startswith(BRANCHES) else BRANCHES + branch


def short_ref(ref: str) -> str:
    """Return the name of a branch without `refs/heads/`."""
    return ref.removeprefix(BRANCHES)
