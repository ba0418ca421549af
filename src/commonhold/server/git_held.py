"""Refuse git calls that would write what others hold, since git would begin and stop half way."""

import time
from typing import Final

from commonhold.adapters.git.running import Git
from commonhold.adapters.repository import find_repository
from commonhold.adapters.survey.ground import Ground
from commonhold.app.git_options import words_of
from commonhold.app.git_words import GitCall
from commonhold.app.held_paths import Holding, barred, holdings
from commonhold.server.shell_leave import in_the_way
from commonhold.server.shell_words import held_by_others
from commonhold.server.whose import Log

FETCHED: Final = "FETCH_HEAD"


def to_fetch(call: GitCall, session: Log, holder: str) -> list[str]:
    """The call that brings what a pull would merge, where it must be looked at before; none where it need not be."""
    return (
        [*call.before, "fetch", "--quiet", *words_of(call).named]
        if call.word == "pull" and _held(session, holder)
        else []
    )


def refusal(call: GitCall, root: str, folder: str, holder: str, session: Log) -> str:
    """Why a call in a folder of the working tree at `root` is not run; empty where it may be.

    What a pull merges must have been fetched.
    """
    held = _held(session, holder)
    if not held:
        return ""
    judged = _merge(call, Git(root)) if call.word == "pull" else call
    ground = Ground(find_repository(root), folder, ("git", *judged.argv))
    met = in_the_way(held, ground)
    return held_by_others(met, time.time()) if met else ""


def _held(session: Log, holder: str) -> tuple[Holding, ...]:
    return barred(holdings(session.leases(), session.place()), holder)


def _merge(call: GitCall, git: Git) -> GitCall:
    """What a pull does once it has fetched."""
    words = words_of(call)
    is_rebased = words.has("--rebase", "-r") or git.line("config", "pull.rebase") not in (None, "", "false")
    return GitCall(call.before, "rebase" if is_rebased and not words.has("--no-rebase") else "merge", (FETCHED,))
