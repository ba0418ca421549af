"""Agents as their hooks report them, attended to in this process: a repository, a clock, tools that write by hand."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import CountingIds, FakeClock

from commonhold.agents.edits.intended_writes import results
from commonhold.agents.hook_events import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Caller,
    Edited,
    Happening,
    HasRead,
    IntendedWrite,
    PromptGiven,
    Ran,
    Removed,
    Response,
    SessionBegan,
    SessionEnded,
    TurnEnded,
)
from commonhold.agents.runtime.hook_dispatch import HookDispatch
from commonhold.agents.runtime.open_sessions import OpenSessions, Silence
from commonhold.agents.runtime.working_trees import Trees
from commonhold.api.service import Service
from commonhold.client.channel import Direct
from commonhold.client.session import Commonhold
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.options import Options
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.repository import find_repository


@dataclass
class House:
    """A git repository, and what attends to the agents in it."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    options: Options = field(default_factory=Options)
    is_ignored: Callable[[str, str], bool] = lambda _root, _path: False
    commands: list[AboutToRun] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    registry: Callable[[], Registry | None] = lambda: None

    def __post_init__(self) -> None:
        self.root = self.folder / "repo"
        self.root.mkdir(parents=True)
        git(self.root, "init", "-q", "-b", "main")
        self.repository = find_repository(str(self.root))
        self.attending = self.attend()

    def attend(self) -> HookDispatch:
        """What attends, begun again: it knows nothing but what the state says."""
        silence = Silence(
            lambda _: self.options.idle_seconds, lambda: self.clock.now().ticks, self.running.__contains__
        )
        return HookDispatch(Trees(self.repository), OpenSessions(self.session, silence), self._is_ignored, self)

    def _idle_seconds(self, _root: str) -> float:
        return self.options.idle_seconds

    def _is_ignored(self, root: str, path: str) -> bool:
        """As it is said at the time."""
        return self.is_ignored(root, path)

    def session(self, root: str, holder: str) -> Commonhold:
        return Commonhold(Direct(self.service(holder, root)), root=root, agent=holder)

    def service(self, agent: str | None, root: str | Path | None = None) -> Service:
        found = find_repository(str(root or self.root))
        return Service(
            store=SqliteStore(found.state_folder, synchronous="OFF"),
            files=WorkingTree(found.root, git_dir=found.git_dir, max_file_bytes=100_000),
            clock=self.clock,
            ids=self.ids,
            agent=agent,
            options=self.options,
            surroundings=Surroundings(self.registry()),
        )

    def about_to_run(self, happening: AboutToRun, _root: str, _session: Commonhold) -> Response:
        self.commands.append(happening)
        return NOTHING

    def ran(self, _happening: Ran) -> str:
        return ""

    def over(self, holder: str) -> None:
        """Nothing of its commands is kept."""

    def free(self, session: Commonhold) -> None:
        """Nothing is held for them."""

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def text(self, path: str) -> str:
        return self.root.joinpath(path).read_text()


@dataclass
class Agent:
    """One session: its hooks, and its tool, which reads and writes whole files."""

    house: House
    caller: Caller
    cwd: str = ""

    def tell(self, happening: Happening) -> Response:
        return self.house.attending.attend(happening)

    @property
    def where(self) -> str:
        return self.cwd or str(self.house.root)

    def begins(self) -> Response:
        return self.tell(SessionBegan(self.caller, self.where))

    def is_asked(self, prompt: str) -> Response:
        return self.tell(PromptGiven(self.caller, self.where, prompt))

    def reads(self, *paths: str) -> Response:
        return self.tell(HasRead(self.caller, self.where, paths))

    def wants(self, *wishes: IntendedWrite, call: str = "call") -> Response:
        return self.tell(AboutToEdit(self.caller, self.where, call, "Edit", wishes))

    def writes(self, *wishes: IntendedWrite) -> None:
        """As the tool does: what the files hold now, and what is wished of them."""
        made = results(wishes, self._load)
        assert isinstance(made, dict), made
        for path, data in made.items():
            target = Path(self.where, path)
            if data is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def _load(self, path: str) -> bytes | None:
        target = Path(self.where, path)
        return target.read_bytes() if target.exists() else None

    def has_written(self, *wishes: IntendedWrite, call: str = "call") -> Response:
        return self.tell(Edited(self.caller, self.where, call, "Edit", wishes))

    def edits(self, *wishes: IntendedWrite, call: str = "call") -> Response:
        """All three; the answer to the first where it is refused, else that to the last."""
        asked = self.wants(*wishes, call=call)
        if asked.stance != "pass":
            return asked
        self.writes(*wishes)
        return self.has_written(*wishes, call=call)

    def rests(self) -> Response:
        return self.tell(TurnEnded(self.caller, self.where))

    def ends(self) -> Response:
        return self.tell(SessionEnded(self.caller, self.where))


@contextmanager
def house(folder: Path, options: Options | None = None) -> Iterator[House]:
    """A house until the end of the block."""
    made = House(folder, options=options or Options())
    try:
        yield made
    finally:
        made.attending.close()


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)


def removed(*paths: str) -> tuple[Removed, ...]:
    return tuple(Removed(path) for path in paths)
