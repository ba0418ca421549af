"""The next session after a power failure: what it finds, and whether it can go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

import apsw
from tests.crashes.chronicle import STATE, Chronicle, Expected, files_of
from tests.crashes.disk import Image
from tests.crashes.ledger import WHOLE, damage, disagreements, fingerprint, log_of

from commonhold.bootstrap import open_repository
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.kernel.events import Committed
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import SqliteStore

STAGED: Final = ".commonhold-"


class Wound(StrEnum):
    """What can be wrong with what is found."""

    CORRUPT = "the database is damaged"
    UNUSABLE = "the next session cannot go on"
    TOLD = "the next session is refused, since the state has lost events"
    LOST = "something that was answered is gone"
    HALF = "the state is none that there ever was"
    UNEXPLAINED = "the log does not explain the tables"
    FENCE = "a fence that was given out can be given out again"
    TWICE = "a request that was repeated had another effect"
    FILES = "the files are not what the log says"
    LITTER = "the files are what the log says, and staged files or new folders lie about"


@dataclass(frozen=True, slots=True)
class Survivor:
    """Looks at one crash state, laid out at `root`."""

    root: Path
    chronicle: Chronicle
    expected: Expected
    wounds: dict[Wound, str] = field(default_factory=dict)

    def examine(self) -> dict[Wound, str]:
        """What is wrong, and more about it."""
        with self._noting_failure():
            self._look()
            self._go_on()
            self._look_again()
        return self.wounds

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, CommonholdError, ArithmeticError, LookupError, ValueError) as fault:
            is_told = isinstance(fault, StoreError) and fault.code is Code.STORE_UNSAFE
            self.wounds[Wound.TOLD if is_told else Wound.UNUSABLE] = repr(fault)

    def _look(self) -> None:
        with SqliteStore(str(self.root / STATE)).read() as session:
            self._check_integrity(session)
            self._check_history(session)
            if names := disagreements(session):
                self.wounds[Wound.UNEXPLAINED] = ", ".join(names)
            if session.next_sequence <= self.expected.fence:
                self.wounds[Wound.FENCE] = f"{session.next_sequence} is next, {self.expected.fence} was given out"

    def _check_integrity(self, session: SqliteSession) -> None:
        if found := damage(session):
            self.wounds[Wound.CORRUPT] = repr(found)

    def _check_history(self, session: SqliteSession) -> None:
        """Every state of the story has a fingerprint: what is found is one of them, and none from before a promise."""
        found = fingerprint(session)
        if found in self.expected.allowed:
            return
        if found in self.expected.settled:
            self.wounds[Wound.LOST] = f"transaction {self.expected.settled.index(found)} of {self.expected.promised}"
        else:
            self.wounds[Wound.HALF] = f"{len(log_of(session))} events"

    def _go_on(self) -> None:
        """Leases ended with the machine, so the next session gets any key, with a fence above all others."""
        with open_repository(str(self.root), agent="next") as hold:
            hold.recover()
            commits = sum(isinstance(each.event, Committed) for each in hold.log(after=0, limit=WHOLE))
            self._check_files(files_of(self.root), self.chronicle.trees[commits])
            answer = hold.acquire("account:0", "a.py#f", ttl_seconds=600.0, request_id="next")
            if answer.lease is None or answer.lease.fence <= self.expected.fence:
                self.wounds[Wound.FENCE] = repr(answer)
            hold.release(answer.lease.id if answer.lease else "")

    def _check_files(self, found: Image, wanted: Image) -> None:
        more = found.keys() - wanted.keys()
        if found == wanted:
            return
        is_litter = wanted.items() <= found.items() and all(found[path] is None or STAGED in path for path in more)
        self.wounds[Wound.LITTER if is_litter else Wound.FILES] = repr(sorted(found))

    def _look_again(self) -> None:
        with SqliteStore(str(self.root / STATE)).read() as session:
            self._check_integrity(session)
