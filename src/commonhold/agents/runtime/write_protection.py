"""Find the files that a shell command must not write while it runs, and answer its launcher."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from commonhold.agents.runtime.shell_messages import held_by_others
from commonhold.agents.runtime.working_trees import Trees
from commonhold.client.session import Commonhold
from commonhold.kernel.answers import AcquireAnswer
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import file_key
from commonhold.leases.answers import for_writing
from commonhold.shell.commands import shown
from commonhold.shell.git_calls_in_shell import goes_to
from commonhold.shell.held_paths import Holding, barred, holdings, is_in, overlap
from commonhold.shell.reach import Reach, needs_others_rights, only_reads, reach_of
from commonhold.workspace.repository import Repository, find_repository
from commonhold.workspace.sandbox import bubblewrap
from commonhold.workspace.sandbox.probing import NONE, Offer
from commonhold.workspace.survey.ground import Named, ScanScope

MAX_INTENT: Final = 200
NOBODY: Final = 0
"""The process that waits for a command, if it is not known."""
BRIEF_SECONDS: Final = 2.0
"""How long a command waits for a file that another's command or tool is writing: mostly that takes a moment."""
_PAUSE_SECONDS: Final = 0.05
Shape = dict[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that is about to run: its holder, its folder, its words, and the process that will wait for it.

    `ticket` names the command when its end is reported; `root` is the working tree in which it is watched, if that is
    not the one around `cwd`. `is_kept`: it runs in a sandbox in which no process gets new rights. `call` names it in
    the hook that reports its end, if there is one. `has_stand_in`: its calls of git are judged when they are made, too.
    """

    holder: str
    cwd: str
    command: tuple[str, ...]
    ticket: str
    process: int = NOBODY
    root: str = ""
    is_kept: bool = False
    call: str = ""
    has_stand_in: bool = False

    @property
    def intent(self) -> str:
        """The command in the form that others see as its intent."""
        words = " ".join(shown(self.command).split())
        return "".join(each if each.isprintable() else "?" for each in f"$ {words}")[:MAX_INTENT]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Additions to a command: variables of its environment."""

    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leave:
    """The files that a command must not write, the means to enforce that, and the lease that was taken for it.

    `reach` is how likely it writes files that it does not name.
    """

    masked: tuple[Holding, ...] = ()
    offer: Offer = NONE
    reach: Reach = Reach.ANYTHING
    lease_id: str | None = None
    notices: tuple[str, ...] = ()


def asked_by(told: Mapping[str, Any], ticket: str) -> Asked:
    """Return the command that a launcher asks about. Raises InputError `TEXT_INVALID`."""
    command = told.get("command")
    words = tuple(word for word in command if isinstance(word, str)) if isinstance(command, list) else ()
    process = told.get("process", NOBODY)
    texts = [told.get(name, "") for name in ("holder", "cwd", "root", "reported_as")]
    are_texts = all(isinstance(each, str) for each in texts)
    if not words or words != tuple(command or ()) or not isinstance(process, int) or not are_texts:
        raise InputError(
            Code.TEXT_INVALID,
            "a shell command needs holder, cwd and command, a list of words",
            hint="run it with commonhold exec",
        )
    holder, cwd, root, call = texts
    return Asked(holder, cwd, words, ticket, process, root, bool(told.get("kept")), call)


def repository_of(asked: Asked) -> Repository:
    """Return the working tree that a command first goes to; if that is of another repository, its present one."""
    here = find_repository(asked.root or asked.cwd)
    folder = goes_to(asked.command)
    there = Trees(here).around(str(Path(asked.cwd, folder))) if folder else None
    return here if there in (None, here.root) else find_repository(there)


def leave_for(asked: Asked, session: Commonhold, ground: ScanScope, offer: Offer) -> Leave | str:
    """Lease the files that a command plainly writes, and find those that it must not write.

    If others hold files that it names, return why it must not run. A lease of another's command is no reason: this
    waits for it briefly, then ignores it.
    """
    until = time.monotonic() + BRIEF_SECONDS
    keys = [str(file_key(path)) for path in ground.leasable]
    got = AcquireAnswer("denied")
    held: tuple[Holding, ...] = ()
    for wait_seconds in (0.0, BRIEF_SECONDS, None):
        held = _held(session, ground, until)
        if met := in_the_way(held, ground):
            return held_by_others(met, time.time())
        if wait_seconds is None or not keys or (wait_seconds and not _is_brief(session, ground)):
            break
        got = session.acquire(*keys, task=asked.intent, acquisition_id=asked.ticket, wait_seconds=wait_seconds)
        if got.lease is not None:
            break
    reach = reach_of(asked.command)
    masked, kept_by = _masks(asked, held, ground, offer)
    return Leave(masked, kept_by, reach, got.lease.id if got.lease else None, for_writing(got, keys).notices)


def _held(session: Commonhold, ground: ScanScope, until: float) -> tuple[Holding, ...]:
    """Return others' holdings, once no tool is writing a file that the command names, or the time `until` is over."""
    while True:
        held = barred(holdings(session.leases(), session.worktree_id()), session.holder)
        met = in_the_way(held, ground)
        if not met or not all(each.is_slot for each in met) or time.monotonic() >= until:
            return held
        time.sleep(_PAUSE_SECONDS)


def _is_brief(session: Commonhold, ground: ScanScope) -> bool:
    """Whether a command of another session has files that this one names, and so may soon be done with them."""
    held = holdings(session.leases(), session.worktree_id())
    return any(each.is_of_command and each.holder != session.holder for each in in_the_way(held, ground))


def in_the_way(held: Sequence[Holding], ground: ScanScope) -> tuple[Holding, ...]:
    """Return others' holdings of files that the command names: not of files in a folder that it only looks into."""
    return tuple(each for each in held if any(_is_met(each.path, named) for named in ground.concern))


def _is_met(path: str, named: Named) -> bool:
    return is_in(named.path, path) if named.is_within else overlap(named.path, path)


def _masks(
    asked: Asked, held: tuple[Holding, ...], ground: ScanScope, offer: Offer
) -> tuple[tuple[Holding, ...], Offer]:
    """Return the held files to make read-only, and the means; none for a command that only reads.

    One that plainly writes other files is kept from these, too: its words may have been misread.
    """
    there = tuple(each for each in held if ground.is_there(each.path))
    if not there or not offer.is_enforced:
        return (), NONE
    is_unfit = (offer.has_own_users and needs_others_rights(asked.command)) or (offer.program and asked.is_kept)
    can_meet = any(named.is_within for named in ground.concern) or not only_reads(asked.command)
    return (there, offer) if can_meet and not is_unfit else ((), NONE)


def refused(why: str) -> Shape:
    """Return the answer that the command must not run."""
    return {"refusal": why}


def unwatched() -> Shape:
    """Return the answer for a command that is not watched."""
    nothing: list[str] = []
    return {"ticket": "", "env": {}, "masked": nothing, "kept": nothing, "prefix": nothing}


def answer_to(asked: Asked, leave: Leave, ground: ScanScope, prepared: Prepared) -> Shape:
    """Return the launcher's instructions."""
    shape = unwatched() | {"ticket": asked.ticket, "env": dict(prepared.environment)}
    if not leave.masked:
        return shape
    held = dict.fromkeys(each.path for each in leave.masked)
    masked = [ground.place(path) for path in held]
    kept = [place for path in held if path.endswith("/") or not path for place in ground.nobodys_in(path)]
    if leave.offer.program:
        return shape | {"prefix": bubblewrap.prefix(leave.offer.program, masked, kept)}
    return shape | {"masked": masked, "kept": kept}
