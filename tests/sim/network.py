"""A store, and the network to it: requests and answers get lost, come late, come twice, come in another order."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.in_memory.store import MemoryStore
from tests.sim.referee import Referee
from tests.sim.telling import answered, asked, happened
from tests.sim.world import MachineClock, World

from commonhold.kernel.commands import Command
from commonhold.kernel.events import Recorded
from commonhold.kernel.lease_ports import LeaseView, Once
from commonhold.leases.registry import TableRegistry

Look = Callable[[LeaseView], Any]
Request = tuple[Command[Any], Once] | Look
Reply = Callable[[Any], None]


class Server:
    """The store's machine: it answers, is restarted, is booted again."""

    def __init__(self, world: World, referee: Referee) -> None:
        self.world = world
        self.referee = referee
        self.clock = MachineClock(world)
        self.is_up = True
        self._open(MemoryStore())

    def _open(self, store: MemoryStore) -> None:
        self.store = store
        self.registry = TableRegistry(store, self.clock)

    def handle(self, request: Request) -> Any:
        """Answer a request; None while the server is down."""
        if not self.is_up:
            return None
        if not isinstance(request, tuple):
            with self.registry.read() as view:
                return request(view)
        command, once = request
        before = self.referee.sequence
        outcome = self.registry.execute(command, once)
        with self.store.read() as reader:
            if self.world.is_told:
                self.tell(command, once, outcome, reader.events(after=before))
            self.referee.watch(command, once, outcome, reader, self.clock.now())
        return outcome

    def tell(self, command: Command[Any], once: Once, outcome: Any, events: tuple[Recorded, ...]) -> None:
        self.world.tell(once.request_id, f"{asked(command)} -> {answered(outcome)}")
        for recorded in events:
            self.world.tell("", happened(recorded))

    def go_down(self, seconds: float) -> None:
        self.world.tell("server", f"down for {seconds:.1f} s")
        self.is_up = False
        self.world.after(seconds, self._come_back)

    def _come_back(self) -> None:
        """Begin again from what is durable: the log and the first answers."""
        self.world.tell("server", "is back")
        store = MemoryStore()
        with self.store.read() as before, store.write() as after:
            for recorded in before.events(limit=100_000):
                after.record((recorded.event,), recorded.at)
            after._answers.update(before._answers)
        self._open(store)
        self.is_up = True


class Network:
    """What lies between agents and the server. `badness` is how much of it goes wrong, from 0 to 1."""

    def __init__(self, world: World, server: Server, badness: float) -> None:
        self.world = world
        self.server = server
        self.badness = badness

    def send(self, request: Request, reply: Reply) -> None:
        for delay in self._delays():
            self.world.after(delay, partial(self._arrive, request, reply))

    def _arrive(self, request: Request, reply: Reply) -> None:
        answer = self.server.handle(request)
        if answer is not None:
            for delay in self._delays():
                self.world.after(delay, partial(reply, answer))

    def _delays(self) -> list[float]:
        """Say when a message arrives: never, once or twice."""
        random, badness = self.world.random, self.badness
        fate = random.random()
        if fate < 0.15 * badness:
            return []
        times = 2 if fate < 0.3 * badness else 1
        return [
            random.uniform(20.0, 150.0) if random.random() < 0.08 * badness else random.expovariate(2.0)
            for _ in range(times)
        ]
