"""The protocol holds in every order of events, and each part of it is needed."""

from pathlib import Path

import pytest
from tests.effort import is_stress
from tests.services.fixtures import require
from tests.spin.model_checker import Model, verify

HERE = Path(__file__).parent
LEASES = Model(HERE / "leases.pml")
WAITING = Model(HERE / "waiting.pml")
TURNS = Model(HERE / "turns.pml")

# The model as it should be, in sizes that together go through everything. The first of each is whole.
SOUND = {
    "two agents, two keys, all that can befall them": (LEASES, ("KEYS=2", "SHARED_TOO")),
    "three agents": (LEASES, ("AGENTS=3", "ALWAYS_DURABLE", "DELIVERED_ONCE")),
    "two agents, again and again": (LEASES, ("ROUNDS=2", "ALWAYS_DURABLE", "DELIVERED_ONCE")),
    "two waiters, all that can befall them": (WAITING, ("WAITERS=2",)),
    "three waiters": (WAITING, ("WAITERS=3", "FEWER_MISFORTUNES")),
    "two clients, two files, all that can befall them": (TURNS, ("CLIENTS=2", "FILES=2", "LINKED_TOO")),
    "three clients, one file": (TURNS, ("CLIENTS=3", "FOREIGN=2")),
    "three clients whose commits concern each other": (
        TURNS,
        ("CLIENTS=3", "FILES=2", "LINKED_TOO", "FEWER_MISFORTUNES", "FOREIGN=0", "LAPSES=0"),
    ),
}
WHOLE = [name for name in SOUND if name.endswith("all that can befall them")]

# Each of these takes one model to a larger size, and a minute: `make stress` searches them.
LARGE = frozenset(
    {
        *("three agents", "two agents, again and again", "three waiters"),
        *("three clients, one file", "three clients whose commits concern each other"),
    }
)

# Each takes one part of the protocol away. Which of the promises named is found broken first is up to the search.
BROKEN = {
    "NO_FENCE": (LEASES, {"nobody_was_there_since", "nobody_else_holds_it"}),
    "NO_CONTENT_CHECK": (LEASES, {"nothing_is_lost"}),
    "LEASELESS_LOOKS_AT_NO_LEASE": (LEASES, {"nobody_else_holds_it"}),
    "DEFERRED_TRANSACTIONS": (LEASES, set(LEASES.promises)),
    "ANSWER_BEFORE_FLUSH": (LEASES, {"promises_survive", "fence_is_new"}),
    "NO_FIRST_ANSWER": (LEASES, {"request_acts_once"}),
    "RENEW_REVIVES": (LEASES, {"leases_are_compatible"}),
    "FENCE_ENDS_WITH_LEASE": (LEASES, {"fence_is_new"}),
    "LOST_WAKEUP": (WAITING, {"acceptance cycle"}),
    "DEAD_WAITERS_STAY": (WAITING, {"acceptance cycle"}),
    "NO_ORDER": (WAITING, {"acceptance cycle"}),
    "SILENT_RESTART": (WAITING, {"acceptance cycle"}),
    "SWEEP_WAKES_NOBODY": (WAITING, {"acceptance cycle"}),
    "NO_TURNS": (TURNS, {"acceptance cycle"}),
    "NO_FIRST_COME_FIRST_SERVED": (TURNS, {"first_come_first_served"}),
    "TURNS_STAY_SHORT": (TURNS, {"acceptance cycle"}),
    "HANGING_TURNS_STAY": (TURNS, {"acceptance cycle"}),
    "LOOKS_BEFORE_ITS_TURN": (TURNS, {"second_sees_first"}),
    "LATE_WRITES": (TURNS, {"each_try_has_a_cause", "acceptance cycle"}),
    "LATE_WRITES_BLINDLY": (TURNS, {"nothing_is_lost", "second_sees_first"}),
}

SMALL = {LEASES: (), WAITING: ("WAITERS=2",), TURNS: ("FILES=2", "LINKED_TOO")}
# With one file the search finds these after a few thousand states instead of some million.
IN_ONE_FILE = frozenset({"HANGING_TURNS_STAY"})

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def spin() -> None:
    require("spin", "gcc")


@pytest.mark.parametrize("name", [name for name in SOUND if is_stress() or name not in LARGE])
def test_the_protocol_keeps_its_promises(name: str, tmp_path: Path) -> None:
    model, macros = SOUND[name]
    found = verify(model, tmp_path, macros)
    assert found.broken is None, found.output
    assert found.is_complete, found.output
    if name in WHOLE:
        assert found.reached == model.situations


@pytest.mark.parametrize("mutant", BROKEN)
def test_each_part_of_the_protocol_is_needed(mutant: str, tmp_path: Path) -> None:
    model, promises = BROKEN[mutant]
    size = () if mutant in IN_ONE_FILE else SMALL[model]
    found = verify(model, tmp_path, (*size, mutant), quickly_built=True)
    assert found.broken in promises, found.output


@pytest.mark.parametrize("model", [LEASES, WAITING, TURNS], ids=["leases", "waiting", "turns"])
def test_every_macro_is_tried_and_told_of(model: Model) -> None:
    sizes = {macro.partition("=")[0] for tried, macros in SOUND.values() if tried is model for macro in macros}
    mutants = {mutant for mutant, (tried, _) in BROKEN.items() if tried is model}
    assert sizes | mutants == model.macros
    assert {macro for macro in model.macros if macro not in model.header} == set()
