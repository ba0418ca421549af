"""One run: a few agents, a bad network, a store that is restarted, clocks that jump; all of it from one seed."""

from functools import partial

from tests.sim.agents import NAMES, Agent
from tests.sim.network import Network, Server
from tests.sim.referee import Referee
from tests.sim.world import World

from commonhold.kernel.commands import Heartbeat
from commonhold.kernel.lease_ports import Once

LONG = 2000.0


class Simulation:
    """Everything that happens in one run."""

    def __init__(self, seed: int, *, is_told: bool = False) -> None:
        self.world = World(seed, is_told=is_told)
        self.referee = Referee()
        self.server = Server(self.world, self.referee)
        badness = self.world.random.choice((0.0, 0.3, 1.0))
        self.network = Network(self.world, self.server, badness)
        self.agents: dict[str, list[Agent]] = {}
        for name in NAMES[: self.world.random.randint(2, len(NAMES))]:
            self.begin(name)
        for _ in range(self.world.random.randint(0, 4)):
            self.world.after(self.world.random.uniform(0.0, 80.0), self.something_happens)

    def begin(self, name: str) -> None:
        """Start a process; one that had the name before may still be there."""
        lives = self.agents.setdefault(name, [])
        agent = Agent(self.world, self.network, self.referee, name, len(lives) + 1)
        lives.append(agent)
        agent.tell("begins")
        agent.go_on(agent.turn)

    def something_happens(self) -> None:
        random = self.world.random
        happening = random.choice(
            (
                self.crash,
                self.crash,
                self.suspend,
                self.suspend,
                self.take_the_name,
                self.set_the_clock,
                self.restart,
                self.boot,
            )
        )
        happening()

    def somebody(self) -> Agent:
        return self.world.random.choice([lives[-1] for lives in self.agents.values()])

    def crash(self) -> None:
        agent = self.somebody()
        agent.crash()
        if self.world.chance(0.7):
            self.world.after(self.world.random.uniform(0.0, 40.0), partial(self.begin, agent.name))

    def suspend(self) -> None:
        self.somebody().suspend(self.world.random.uniform(5.0, 150.0))

    def take_the_name(self) -> None:
        """Suspend a process, and let another begin under its name meanwhile."""
        agent = self.somebody()
        agent.suspend(self.world.random.uniform(5.0, 60.0))
        self.begin(agent.name)

    def set_the_clock(self) -> None:
        hours = self.world.random.choice((-2.0, 2.0))
        self.world.tell("server", f"wall clock set by {hours:+.0f} h")
        self.server.clock.set_wall(3600.0 * hours)

    def restart(self) -> None:
        if self.server.is_up:
            self.server.go_down(self.world.random.uniform(0.1, 20.0))

    def boot(self) -> None:
        self.world.tell("server", "is booted")
        self.server.clock.reboot()
        self.restart()

    def run(self) -> None:
        self.world.run()
        self.world.seconds += LONG
        self.server.handle((Heartbeat("the last"), Once("the last", "")))
        with self.server.registry.read() as view:
            self.referee.judge_the_end(view)


def simulate(seed: int, *, is_told: bool = False) -> Simulation:
    """Run the simulation of one seed. Raises AssertionError, which names the seed."""
    simulation = Simulation(seed, is_told=is_told)
    try:
        simulation.run()
    except Exception as fault:  # whatever goes wrong, the seed is what helps
        story = "\n".join(simulation.world.story)
        message = f"seed {seed}: {fault!r}\nto see its story: COMMONHOLD_SIM_SEED={seed} pytest tests/sim\n{story}"
        raise AssertionError(message) from fault
    return simulation
