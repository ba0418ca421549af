"""How much code an operation runs: files, functions, calls, transactions. Counts do not depend on the machine's load.

The process that serves is traced by `sys.setprofile` in all of its threads; planners and clients are other processes.
Each operation is repeated until all is loaded and cached, then counted `ROUNDS` times. The round with the fewest
functions is reported: periodic tasks may run in the others.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import IO, Any, Self

import apsw

import commonhold
from bench.hooks import Caller, payload
from bench.reporting import Figure, at_most, report
from commonhold import Changeset, Edit, Op
from commonhold.client.session import Commonhold
from commonhold.diagnostics.http import is_answered
from commonhold.server.daemon.lifetime import Times, serve
from commonhold.stores.sqlite import group_commit
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace import loopback
from commonhold.workspace.loopback import Loopback

FUNCTIONS = 20
WARM_UP = 4
ROUNDS = 5
START_SECONDS = 30.0
GOALS = {
    ("commit, in process", "files"): 45,
    ("commit, in process", "functions"): 250,
    ("commit, in process", "depth"): 20,
    ("commit, in process", "transactions"): 2,
    ("commit, in process", "writing"): 2,
    ("commit, in the daemon", "transactions"): 2,
    ("acquire, in process", "files"): 15,
    ("acquire, in process", "transactions"): 1,
    ("acquire, in process", "writing"): 1,
    ("acquire, in the daemon", "transactions"): 1,
    ("hooks of an edit", "files"): 60,
    ("hook before an edit", "transactions"): 1,
    ("hook after an edit", "transactions"): 1,
}
"""The most that is wanted, by operation and count."""
PACKAGE = str(Path(commonhold.__file__).parent) + os.sep
SOURCE = "import os\n\n\n" + "".join(f"def f{n}(value):\n    return value + {n}\n\n\n" for n in range(FUNCTIONS))


@dataclass(frozen=True)
class Trace:
    """The course of one operation: different files and functions of ours, all calls of them, and the deepest stack.

    `transactions` are those that SQLite began (BEGIN), `writing` those of them that write (BEGIN IMMEDIATE). `views`
    are what the store opened altogether: a daemon, alone with its state, reads without a transaction. `flushes` are
    those of a daemon's log, `statements` those that SQLite ran.
    """

    files: int
    functions: int
    calls: int
    depth: int
    transactions: int
    writing: int
    views: int
    flushes: int
    statements: int


class Tracer:
    """Counts in all threads of this process while it is on. It must be made before any thread or connection."""

    def __init__(self) -> None:
        """Watch threads and connections from now on."""
        self._is_on = False
        self._codes: set[CodeType] = set()
        self._counted = {SqliteStore._begin.__code__: 0, group_commit.flush_data.__code__: 0}  # noqa: SLF001
        self._calls = 0
        self._depth = 0
        self._statements: list[str] = []
        apsw.connection_hooks.append(self._watch)
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _watch(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, self._ran)

    def _ran(self, event: dict[str, Any]) -> None:
        if self._is_on:
            self._statements.append(event["sql"])

    def _profile(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and self._is_on and frame.f_code.co_filename.startswith(PACKAGE):
            self._codes.add(frame.f_code)
            self._calls += 1
            if frame.f_code in self._counted:
                self._counted[frame.f_code] += 1
            self._depth = max(self._depth, sum(1 for _ in _ours(frame)))

    def close(self) -> None:
        """Watch no new thread or connection any more, and not this thread."""
        apsw.connection_hooks.remove(self._watch)
        threading.setprofile(None)
        sys.setprofile(None)

    def begin(self) -> None:
        """Count from zero."""
        self._codes, self._depth, self._statements = set(), 0, []
        self._counted, self._calls = dict.fromkeys(self._counted, 0), 0
        self._is_on = True

    def end(self) -> Trace:
        """Stop counting; return the counts. Comprehensions and the like are no functions of their own."""
        self._is_on = False
        functions = [code for code in self._codes if not code.co_name.startswith("<") or code.co_name == "<lambda>"]
        views, flushes = self._counted.values()
        return Trace(
            files=len({code.co_filename for code in functions}),
            functions=len(functions),
            calls=self._calls,
            depth=self._depth,
            transactions=sum(each.startswith("BEGIN") for each in self._statements),
            writing=self._statements.count("BEGIN IMMEDIATE"),
            views=views,
            flushes=flushes,
            statements=len(self._statements),
        )

    def named(self) -> list[str]:
        """Return the functions that were counted last, as FILE:LINE NAME."""
        found = sorted((code.co_filename, code.co_firstlineno, code.co_qualname) for code in self._codes)
        return [f"{file.removeprefix(PACKAGE)}:{line} {name}" for file, line, name in found]


def _ours(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            yield frame
        frame = frame.f_back


class Served:
    """A daemon in a process of its own, whose tracer obeys the lines of its standard input."""

    def __init__(self, folder: Path) -> None:
        """Start it for the repository at `folder`."""
        command = [sys.executable, "-m", "bench.tracing", "--serve", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603

    def begin(self) -> None:
        """Count from zero."""
        self._ask("begin")

    def end(self) -> Trace:
        """Stop counting; return the counts."""
        return Trace(**self._ask("end"))

    def named(self) -> list[str]:
        """Return the functions that were counted last."""
        names: list[str] = self._ask("named")
        return names

    def _ask(self, word: str) -> Any:  # noqa: ANN401 - each word has its own answer
        told, answers = self._process.stdin, self._process.stdout
        assert told is not None
        assert answers is not None
        told.write(word + "\n")
        told.flush()
        return json.loads(answers.readline())

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def obey(tracer: Tracer, words: IO[str], answers: IO[str]) -> None:
    """Answer each of `words` with a line, until they end."""
    answer_to: dict[str, Callable[[], object]] = {
        "begin": tracer.begin,
        "end": lambda: asdict(tracer.end()),
        "named": tracer.named,
    }
    for word in words:
        print(json.dumps(answer_to[word.strip()]()), file=answers, flush=True)


def serve_traced(root: str) -> int:
    """Serve a repository as its daemon, with a tracer; return the exit status."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the daemon's log is not an answer
    threading.Thread(target=obey, args=(Tracer(), sys.stdin, answers), daemon=True).start()
    return serve(root, Times(index_after_seconds=0.0))


@contextmanager
def repository() -> Iterator[Path]:
    """Yield a repository with a file of some functions, served over the loopback once it has a daemon."""
    folder = Path(tempfile.mkdtemp(prefix="commonhold-bench-"))
    try:
        (folder / "a.py").write_text(SOURCE)
        subprocess.run(["git", "init", "--quiet", folder], check=True)  # noqa: S603, S607
        yield folder
    finally:
        shutil.rmtree(folder)


class Operations:
    """The operations that are traced, each on another function of the file each time."""

    def __init__(self, folder: Path, session: Commonhold) -> None:
        """Work as `session` in the repository at `folder`."""
        self._folder = folder
        self._session = session
        self._numbers = count()
        self._left: Callable[[], object] = lambda: None

    @property
    def _next(self) -> tuple[int, int]:
        """The number of this turn, and of the function for it."""
        number = next(self._numbers)
        return number, number % FUNCTIONS

    def commit(self) -> Callable[[], object]:
        """Read a function; return the commit of its new text."""
        number, function = self._next
        (region,) = self._session.read(f"a.py#f{function}")
        text = f"def f{function}(value):\n    return value + {number + FUNCTIONS}\n"
        changeset = Changeset((Edit(Op.REPLACE, region.key, region.hash, text),), intent="bench")

        def commit() -> None:
            answer = self._session.commit(changeset)
            assert answer.outcome == "committed", answer

        return commit

    def acquire(self) -> Callable[[], object]:
        """Release what was acquired last; return the acquire of a region."""
        for lease in self._session.leases(holder=self._session.holder):
            self._session.release(lease.id)
        key = f"a.py#f{self._next[1]}"

        def acquire() -> None:
            answer = self._session.acquire(key, task="bench")
            assert answer.lease is not None, answer

        return acquire

    def edit(self, caller: Caller) -> tuple[Callable[[], object], Callable[[], object]]:
        """Read the file as an agent; return the hook before an edit of a function, and the edit with the hook after."""
        number, function = self._next
        file = self._folder / "a.py"
        read = {"tool_name": "Read", "tool_input": {"file_path": str(file)}, "tool_use_id": f"read-{number}"}
        caller.post(payload(self._folder, "PostToolUse", **read))
        text = file.read_text()
        name = f"def f{function}(value):\n"
        old = name + text.partition(name)[2].partition("\n")[0]
        new = f"{name}    return value + {number + FUNCTIONS}"
        edit = {"file_path": str(file), "old_string": old, "new_string": new}
        call = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": f"call-{number}"}

        def before() -> None:
            answer = caller.post(payload(self._folder, "PreToolUse", **call))
            assert b"deny" not in answer, answer

        def after() -> None:
            file.write_text(text.replace(old, new, 1))
            caller.post(payload(self._folder, "PostToolUse", **call))

        return before, after

    def edit_and_hooks(self, caller: Caller) -> Callable[[], object]:
        """Return an edit with both of its hooks."""
        before, after = self.edit(caller)
        return lambda: (before(), after())

    def hook_after(self, caller: Caller) -> Callable[[], object]:
        """Ask before an edit; return the edit with the hook after it."""
        before, after = self.edit(caller)
        before()
        return after

    def hook_before(self, caller: Caller) -> Callable[[], object]:
        """Make the edit that was asked for last; return the hook before another."""
        self._left()
        before, self._left = self.edit(caller)
        return before


Names = list[str]


def traced(
    tracer: Tracer | Served, prepare: Callable[[], Callable[[], object]], rounds: int = ROUNDS
) -> tuple[Trace, Names]:
    """Return the trace of the operation that `prepare` returns each time, and the functions that it ran."""
    for _ in range(WARM_UP):
        prepare()()
    found: list[tuple[Trace, Names]] = []
    for _ in range(rounds):
        operation = prepare()
        tracer.begin()
        operation()
        found.append((tracer.end(), tracer.named()))
    return min(found, key=lambda each: each[0].functions)


def in_process(tracer: Tracer, rounds: int) -> Iterator[tuple[str, Trace, Names]]:
    """Trace what a session does by itself, without a daemon."""
    with repository() as folder, commonhold.open(str(folder), agent="bench", daemon=False) as session:
        operations = Operations(folder, session)
        yield "commit, in process", *traced(tracer, operations.commit, rounds)
        yield "acquire, in process", *traced(tracer, operations.acquire, rounds)


def in_daemon(rounds: int) -> Iterator[tuple[str, Trace, Names]]:
    """Trace what a daemon does for a session, and for the hooks of an agent."""
    with repository() as folder:
        chosen = loopback.choose(str(folder / ".git/commonhold"), None)
        with Served(folder) as served:
            wait_for(chosen)
            with commonhold.open(str(folder), agent="bench", daemon=True) as session:
                operations = Operations(folder, session)
                yield "commit, in the daemon", *traced(served, operations.commit, rounds)
                yield "acquire, in the daemon", *traced(served, operations.acquire, rounds)
                for lease in session.leases():
                    session.release(lease.id)
            with closing(Caller(chosen.port, chosen.token)) as caller:
                caller.post(payload(folder, "SessionStart", source="startup"))
                for name, prepare in (
                    ("hooks of an edit", operations.edit_and_hooks),
                    ("hook after an edit", operations.hook_after),
                    ("hook before an edit", operations.hook_before),
                ):
                    yield name, *traced(served, partial(prepare, caller), rounds)


def wait_for(chosen: Loopback) -> None:
    """Wait until the daemon answers over the loopback. Raises TimeoutError."""
    until = time.monotonic() + START_SECONDS
    while not is_answered(chosen):
        if time.monotonic() > until:
            raise TimeoutError(f"no daemon answers on port {chosen.port} after {START_SECONDS:g} seconds")
        time.sleep(0.05)


def figures(name: str, trace: Trace) -> Iterator[Figure]:
    """Yield the figures of an operation, with the goals that were set for it."""
    for what, value in asdict(trace).items():
        goal = GOALS.get((name, what))
        yield at_most(f"{name}: {what}", value, "", goal) if goal is not None else Figure(f"{name}: {what}", value, "")


def main(words: Sequence[str] | None = None) -> int:
    """Trace all operations, or serve as the daemon that is traced."""
    parser = argparse.ArgumentParser(prog="python -m bench.tracing", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each operation is counted")
    parser.add_argument("--names", type=Path, metavar="FOLDER", help="write the functions of each operation there")
    parser.add_argument("--serve", metavar="ROOT", help=argparse.SUPPRESS)
    chosen = parser.parse_args(words)
    if chosen.serve:
        return serve_traced(chosen.serve)
    all_figures: list[Figure] = []
    with closing(Tracer()) as tracer:
        found = [*in_process(tracer, chosen.rounds), *in_daemon(chosen.rounds)]
    for name, trace, functions in found:
        all_figures += figures(name, trace)
        if chosen.names:
            chosen.names.mkdir(parents=True, exist_ok=True)
            (chosen.names / f"{name}.txt").write_text("\n".join(functions) + "\n")
    report("tracing", all_figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
