"""Refuse git calls that would write files that others hold, since git would begin and stop halfway."""

import time
from typing import Final

from commonhold.agents.git.change_attribution import Log
from commonhold.agents.runtime.shell_messages import held_by_others
from commonhold.agents.runtime.write_protection import in_the_way
from commonhold.shell.git_options import words_of
from commonhold.shell.git_words import GitCall
from commonhold.shell.held_paths import Holding, barred, holdings, meets
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository
from commonhold.workspace.survey.git_ground import moved_paths
from commonhold.workspace.survey.ground import ScanScope

FETCHED: Final = "FETCH_HEAD"


def to_fetch(call: GitCall) -> list[str]:
    """Return the call that fetches the commits that a pull would merge."""
    return [*call.before, "fetch", "--quiet", *words_of(call).named]


def is_beside_holders(session: Log, holder: str) -> bool:
    """Whether others hold files of the working tree."""
    return bool(_held(session, holder))


def refusal(call: GitCall, root: str, folder: str, holder: str, session: Log) -> str:
    """Return why a call in a folder of the working tree at `root` must not run; empty if it may.

    A pull must have fetched before.
    """
    held = _held(session, holder)
    if not held:
        return ""
    judged = once_fetched(call, Git(root))
    written = moved_paths(Git(root), judged, folder)
    if written is None:
        met = in_the_way(held, ScanScope(find_repository(root), folder, ("git", *judged.argv)))
    else:
        met = tuple(each for each in held if meets(each.path, written))
    return held_by_others(met, time.time()) if met else ""


def _held(session: Log, holder: str) -> tuple[Holding, ...]:
    return barred(holdings(session.leases(), session.worktree_id()), holder)


def once_fetched(call: GitCall, git: Git) -> GitCall:
    """Return the call itself, or for a pull the call that it makes once it has fetched."""
    if call.word != "pull":
        return call
    words = words_of(call)
    is_rebased = words.has("--rebase", "-r") or git.line("config", "pull.rebase") not in (None, "", "false")
    return GitCall(call.before, "rebase" if is_rebased and not words.has("--no-rebase") else "merge", (FETCHED,))
