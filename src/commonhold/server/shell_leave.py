"""What a shell command is allowed to write while it runs, and what its launcher is told of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from commonhold.adapters.repository import Repository, find_repository
from commonhold.adapters.sandbox import bubblewrap
from commonhold.adapters.sandbox.probing import Offer
from commonhold.adapters.survey.ground import Ground
from commonhold.adapters.trees import Trees
from commonhold.app.answers import AcquireAnswer
from commonhold.app.giving import Given, Sought, Withheld, give, parted
from commonhold.app.shell_calls import goes_to
from commonhold.client.session import Commonhold
from commonhold.domain.errors import Code, InputError
from commonhold.domain.keys import can_be_named, file_key
from commonhold.server.shell_words import beside_others, held_by_others

MAX_INTENT: Final = 200
NOBODY: Final = 0
"""The process that waits for a command, where that is not known."""
Shape = dict[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that is about to run: for whom, where, its words, and the process that will wait for it.

    `ticket` is what its end will be told by, `temporary` where its temporary files are to be, `root` the working tree
    that it is kept to where that is not the one around `cwd`. `is_kept`: it runs inside of another one that is kept.
    """

    holder: str
    cwd: str
    command: tuple[str, ...]
    ticket: str
    process: int = NOBODY
    temporary: str = ""
    root: str = ""
    is_kept: bool = False

    @property
    def intent(self) -> str:
        """What others see of it."""
        words = " ".join(self.command[-1].split())
        return "".join(each if each.isprintable() else "?" for each in f"$ {words}")[:MAX_INTENT]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What else a command is given: variables of its environment, and folders that it may write (absolute)."""

    environment: Mapping[str, str] = field(default_factory=dict)
    writable: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Leave:
    """What a command may write, by whom it is kept to that, and the lease that was taken for it."""

    given: Given
    offer: Offer
    lease_id: str | None = None
    notices: tuple[str, ...] = ()


def asked_by(told: Mapping[str, Any], ticket: str) -> Asked:
    """What a launcher asks. Raises InputError `TEXT_INVALID`."""
    command = told.get("command")
    words = tuple(word for word in command if isinstance(word, str)) if isinstance(command, list) else ()
    process = told.get("process", NOBODY)
    texts = [told.get(name, "") for name in ("holder", "cwd", "temporary", "root")]
    if not words or words != tuple(command or ()) or not isinstance(process, int) or not all(map(_is_text, texts)):
        raise InputError(
            Code.TEXT_INVALID,
            "a shell command needs holder, cwd and command, a list of words",
            hint="run it with commonhold exec",
        )
    holder, cwd, temporary, root = texts
    return Asked(holder, cwd, words, ticket, process, temporary, root, bool(told.get("kept")))


def repository_of(asked: Asked) -> Repository:
    """The working tree that a command is about: the one that it goes to first, where that is of the same repository."""
    here = find_repository(asked.root or asked.cwd)
    folder = goes_to(asked.command)
    there = Trees(here).around(str(Path(asked.cwd, folder))) if folder else None
    return here if there in (None, here.root) else find_repository(there)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def leave_for(asked: Asked, session: Commonhold, ground: Ground, offer: Offer) -> Leave | str:
    """Lease what the command plainly writes, and find what it may write; why not, where others hold it."""
    got = AcquireAnswer("granted")
    if named := _to_lease(ground, ground.sought):
        got = session.acquire(*named, task=asked.intent, acquisition_id=asked.ticket)
        if got.lease is None:
            return held_by_others(got)
    given = _given_to(session, ground, offer)
    lost = lost_to(given, ground, offer)
    if lost and got.lease:
        session.release(got.lease.id)
    return lost or Leave(given, offer, got.lease.id if got.lease else None, got.notices)


def _given_to(session: Commonhold, ground: Ground, offer: Offer) -> Given:
    mine, others = parted(session.leases(), session.holder)
    sought, free = ground.sought, ground.free()
    also = (*filter(None, (ground.seek(each.path) for each in mine)), *ground.welcome())
    return give((*sought, *also), free, others, can_mask=offer.can_mask)


def lost_to(given: Given, ground: Ground, offer: Offer) -> str:
    """Why what a command is given is not enough for it; empty where it is, or where nothing keeps it to that."""
    lost = [each for each in given.withheld if offer.is_enforced and _is_lost(each, ground.sought, given)]
    return beside_others(lost[0]) if lost else ""


def _is_lost(withheld: Withheld, sought: Sequence[Sought], given: Given) -> bool:
    """Whether a command would fail for want of what it plainly writes; what another holds is refused by its lease."""
    return any(each.path == withheld.path for each in sought) and not given.reaches(withheld.path)


def _to_lease(ground: Ground, sought: Sequence[Sought]) -> list[str]:
    """The keys of what is plainly written: not of what is only looked into, nor of what git ignores or no key names."""
    paths = [each.path for each in sought if each.path and each.path != each.folder and can_be_named(each.path)]
    ignored = set(ground.ignored(paths))
    return [str(file_key(path)) for path in paths if path not in ignored]


def refused(why: str) -> Shape:
    """It is not to be run."""
    return {"refusal": why}


def unwatched() -> Shape:
    """Nothing is done about the command."""
    nothing: list[str] = []
    lists = dict.fromkeys(("protected", "writable", "masked", "prefix"), nothing)
    return {"ticket": "", "sandbox": "", "env": {}, **lists}


def answer_to(asked: Asked, leave: Leave, ground: Ground, prepared: Prepared) -> Shape:
    """What the launcher is to do."""
    environment = dict(prepared.environment)
    if leave.offer.is_enforced and (folder := ground.temporary(asked.temporary)):
        environment["TMPDIR"] = folder
    shape = unwatched() | {"ticket": asked.ticket, "env": environment}
    if not leave.offer.is_enforced:
        return shape
    given = leave.given
    bounds = bubblewrap.Bounds(
        ground.protected(),
        (*map(ground.place, given.writable), *ground.of_git(can_mask=leave.offer.can_mask), *prepared.writable),
        (*map(ground.place, (*given.masked, *ground.withheld(given))), ground.repository.state_folder),
    )
    if leave.offer.program:
        return shape | {"prefix": bubblewrap.prefix(leave.offer.program, bounds)}
    masked = bounds.masked if leave.offer.can_mask else ()
    lists = {"protected": bounds.protected, "writable": bounds.writable, "masked": masked}
    return shape | {"sandbox": "landlock", **{name: list(paths) for name, paths in lists.items()}}
