"""What a hostile file in the tree, and an agent that reads it, add to another agent's `get` and commit."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Final

import commonhold
from bench.contention.package import lay_out, written
from bench.contention.served import repository
from bench.reporting import Figure, at_most, seconds
from commonhold import Changeset, CommonholdError

LIMIT_MS: Final = 250
KEY: Final = "bench:bystander"
# Each is quadratic or worse for the grammar of its language, or was found to be costly otherwise.
CORPUS: Final[Mapping[str, bytes]] = {
    "markup.py": b"<!--" * 2_500,
    "stars.ts": b"***a" * 3_000,
    "stars.js": b"***a" * 3_000,
    "markup.go": b"<!--" * 2_500,
    "arrows.java": b"a=>" * 3_300,
    "markup.java": b"<!--" * 2_500,
    "generics.cs": b"a<" * 5_000,
    "patterns.sh": b"a?" * 5_000,
    "links.sh": b"[a](" * 2_500,
    "brackets.toml": b"x = " + b"[" * 5_000,
    "brackets.json": b"[" * 10_000,
    "parentheses.py": b"(" * 10_000,
    "indented.py": b"".join(b" " * depth + b"if x:\n" for depth in range(400)),
}


@dataclass(frozen=True)
class Sizes:
    """Each file of `names` is tried for `probes` calls at least, and for as long as it is being read."""

    names: Sequence[str] = tuple(CORPUS)
    probes: int = 20
    part: float = 1.0
    """How much of each file: 1 is all."""


QUICK: Final = Sizes(("stars.ts",), 3, 0.05)


def measure(sizes: Sizes) -> list[Figure]:
    """All figures, of each file one for each call; all that is there at once is not tried."""
    return [figure for name in sizes.names for figure in _of_file(name, sizes)]


def _of_file(name: str, sizes: Sizes) -> list[Figure]:
    source = CORPUS[name][: int(len(CORPUS[name]) * sizes.part)]
    with (
        repository(lay_out) as root,
        commonhold.open(str(root), agent="good", daemon=True) as hold,
        commonhold.open(str(root), agent="other", daemon=True) as other,
    ):
        bystander = _Bystander(hold, other)
        usual = bystander.watch(sizes.probes, lambda: True)
        (root / name).write_bytes(source)
        reader = threading.Thread(target=_read, args=(str(root), name))
        reader.start()
        worst = bystander.watch(sizes.probes, lambda: not reader.is_alive())
        reader.join()
    return [
        at_most(f"{name}, {call}: added", max(0.0, worst[call] - usual[call]) * 1e3, "ms", LIMIT_MS)
        for call in ("get", "commit")
    ]


def _read(root: str, name: str) -> None:
    """Read a file as another agent does; that it is refused is an answer as well."""
    with commonhold.open(root, agent="bad", daemon=True) as hold:
        try:
            hold.read(name)
        except CommonholdError as fault:
            print(f"  {name}: {fault.code}")


class _Bystander:
    """An agent that has to do with other files."""

    def __init__(self, hold: commonhold.Commonhold, other: commonhold.Commonhold) -> None:
        self._hold = hold
        self._other = other
        self._numbers = count()
        hold.put(KEY, "a text", expected_version=0)
        self._commit()

    def watch(self, probes: int, is_over: Callable[[], bool]) -> dict[str, float]:
        """The longest that each call takes: so many calls at least, until it is over. Neither waits for the other."""
        calls = {"get": lambda: self._other.get(KEY), "commit": self._commit}
        with ThreadPoolExecutor() as threads:
            found = {name: threads.submit(_longest, call, probes, is_over) for name, call in calls.items()}
            return {name: each.result() for name, each in found.items()}

    def _commit(self) -> None:
        number = next(self._numbers)
        edit = written(self._hold, "body", f"pkg/m30.py#f30_{number % 8}", f"b{number}")
        answer = self._hold.commit(Changeset((edit,), intent="bystander"))
        assert answer.outcome == "committed", answer


def _longest(call: Callable[[], object], probes: int, is_over: Callable[[], bool]) -> float:
    worst, done = 0.0, 0
    while done < probes or not is_over():
        worst = max(worst, seconds(call))
        done += 1
        time.sleep(0.005)  # so that the calls meet different moments of the other's
    return worst
