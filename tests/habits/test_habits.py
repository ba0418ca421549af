"""An agent that disturbs nobody notices nothing: what a command does with us is what it does without us.

Each command of the table is run in a plain copy of a project, and in one that is served: alone, while another holds a
file that the command does not touch, and while another holds one that it writes; as a user, as root, and as a user who
may make no namespaces. `make test` runs the part of these nine states that `is_chosen` chooses, `make stress` all.
"""

import posixpath
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import product
from typing import Final

import pytest
from tests.effort import is_stress
from tests.habits import project
from tests.habits.lives import MODES, PROGRAMS, Done, HookedClaude, InClaude, Life, Served, served
from tests.habits.table import TABLE, Row

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.keys import file_key

pytestmark = pytest.mark.slow
NEEDED: Final = (
    *("awk", "bash", "dd", "ed", "ex", "find", "git", "gzip", "install", "make", "node", "npm", "patch", "perl", "sed"),
    *(
        "coverage",
        "mypy",
        "pytest",
        "python",
        "ruff",
        "setpriv",
        "sort",
        "split",
        "tar",
        "tee",
        "unshare",
        "vim",
        "xargs",
    ),
)
READ: Final = "src/app.py"
HOLDER, TASK = "two", "rename what it adds up"
NEXT: Final = re.compile(r"(?s)\b\d+ (?:s|min|h)\b.*\b[Nn]ext: ")
"""For how long it is held, and what to do."""
STATES: Final = ("held", "alone", "elsewhere")
"""What another holds while a command runs: a file that it writes or reads, nothing, or a file that it leaves alone."""
KINDS: Final = ((InClaude, "bare"), (HookedClaude, "ours"))
IN_CLAUDE: Final = frozenset(
    {
        *("make runs a formatter", "ruff formats all", "sed in a loop", "a new file by a here-document"),
        *("a here-document for bash", "in the background", "rm of a folder", "pytest", "npm pkg"),
        *("git add and commit", "git switch -c", "git stash", "git merge"),
    }
)
Lives = Callable[[str], tuple[Callable[[str], Done], Served]]


def is_chosen(row: Row, mode: str, state: str) -> bool:
    """Return whether `make test` runs a row in a mode and a state.

    Each row has one mode, and is run while another holds what it writes; one row in six is also run alone, and one in
    six while another works elsewhere. Rows that write a file that could be held and rows that write none are
    counted apart: each of these kinds meets each state in each mode.
    """
    at = [each for each in TABLE if bool(each.held) is bool(row.held)].index(row)
    turn, number = divmod(at, len(MODES))
    return [*MODES][number] == mode and state in (STATES[0], *STATES[turn % 6 : turn % 6 + 1])


def cases(state: str) -> pytest.MarkDecorator:
    """Return the rows, in each mode, that are run in a state."""
    found = [(row, mode) for mode in MODES for row in TABLE if is_stress() or is_chosen(row, mode, state)]
    names = [f"{row.name}, {mode}".replace(" ", "-") for row, mode in found]
    return pytest.mark.parametrize(("row", "mode"), found, ids=names)


def in_claude(every: int) -> pytest.MarkDecorator:
    """Return the rows that are run by Claude Code; `make test` takes one in `every`."""
    rows = [row for row in TABLE if row.name in IN_CLAUDE][:: 1 if is_stress() else every]
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name.replace(" ", "-"))


@pytest.fixture(scope="session")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lives]:
    """For a mode: what a line does without us, and the copy in which it is done with us."""
    folder = tmp_path_factory.mktemp("habits")
    project.make(folder / "pristine", PROGRAMS)
    with ExitStack() as stack:

        @cache
        def found(mode: str) -> tuple[Callable[[str], Done], Served]:
            number = [*MODES].index(mode)
            bare = Life(folder / f"bare-{number}", MODES[mode], folder / "pristine")
            ours = Served(folder / f"ours-{number}", MODES[mode], folder / "pristine")
            return cache(bare.do), stack.enter_context(served(ours))

        yield found


@pytest.fixture(scope="session")
def claudes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[InClaude, HookedClaude]]:
    """The same for one who runs all commands by Claude Code."""
    folder = tmp_path_factory.mktemp("claude")
    project.make(folder / "pristine", PROGRAMS)
    bare, ours = (kind(folder / name, MODES["user"], folder / "pristine") for kind, name in KINDS)
    assert isinstance(ours, HookedClaude)
    with served(ours):
        ours.install()
        yield bare, ours


@contextmanager
def held(ours: Served, path: str) -> Iterator[None]:
    """While another holds a file.

    A link is leased as the file behind it, so first all is as it was: the last command may have left a link there.
    """
    ours.reset()
    with ours.daemon.session(HOLDER) as session:
        lease = session.acquire(path, task=TASK).lease
        assert lease is not None
        assert lease.keys == (str(file_key(path)),)
        yield
        session.release(lease.id)


def assert_same(done: Done, wanted: Done) -> None:
    """All as without us."""
    told, without = ((each.status, each.output, each.complaint) for each in (done, wanted))
    assert told == without
    assert different(done, wanted) == {}


def different(done: Done, wanted: Done) -> dict[str, tuple[object, object]]:
    """The files that are not as they are without us: how they are here, and there."""
    names = {name for name, _ in done.files.items() ^ wanted.files.items()}
    return {name: (done.files.get(name), wanted.files.get(name)) for name in sorted(names)}


def beside(row: Row, wanted: Done) -> str:
    """A file that a command does not touch; in the folder of one that it does, if there is one."""
    folders = {posixpath.dirname(each) for each in (row.held, *sorted(wanted.touched)) if each}
    left = [each for each in project.FILES if project.FILES[each] and each not in {*wanted.touched, ".gitignore"}]
    return next((each for each in left if posixpath.dirname(each) in folders), left[0])


@pytest.mark.parametrize("program", NEEDED)
def test_what_the_table_needs_is_there(program: str) -> None:
    assert shutil.which(program, path=PROGRAMS), f"{program} is missing: install it, since nothing is skipped"


def test_the_table_is_long_and_names_each_row_once() -> None:
    assert len({row.name for row in TABLE}) == len(TABLE) > 100


def test_each_row_is_chosen_and_each_kind_of_row_in_each_state_and_mode() -> None:
    chosen = {(row, state, mode) for row in TABLE for state in STATES for mode in MODES if is_chosen(row, mode, state)}
    assert {row for row, *_ in chosen} == set(TABLE)
    kinds = {(bool(row.held), state, mode) for row, state, mode in chosen}
    assert kinds == {*product((True, False), STATES, MODES)}


def test_a_file_is_held_by_its_own_path_although_the_last_command_made_a_link_of_it(lives: Lives) -> None:
    _, ours = lives("user")
    made = ours.do("ln -sf ../README.md docs/notes.md")
    assert made.files["work/docs/notes.md"] == (stat.S_IFLNK, "../README.md")
    with held(ours, "docs/notes.md"):
        done = ours.do("cp lib/two.txt docs/notes.md")
    assert done.files["work/docs/notes.md"] == ours.before["work/docs/notes.md"]
    assert HOLDER in done.said_by_us


@cases("alone")
def test_alone(row: Row, mode: str, lives: Lives) -> None:
    bare, ours = lives(mode)
    assert_same(ours.do(row.line), bare(row.line))


@cases("elsewhere")
def test_while_another_works_elsewhere(row: Row, mode: str, lives: Lives) -> None:
    bare, ours = lives(mode)
    wanted = bare(row.line)
    with held(ours, beside(row, wanted)):
        assert_same(ours.do(row.line), wanted)


@in_claude(every=3)
def test_alone_in_claude_code(row: Row, claudes: tuple[InClaude, HookedClaude]) -> None:
    bare, ours = claudes
    assert_same(ours.do(row.line), bare.do(row.line))


@in_claude(every=1)
def test_while_another_holds_what_claude_code_writes(row: Row, claudes: tuple[InClaude, HookedClaude]) -> None:
    bare, ours = claudes
    with held(ours, row.held or READ):
        done = ours.do(row.line)
    assert_kept(row, done, bare.do(row.line), ours)


@cases("held")
def test_while_another_holds_what_it_reads_or_writes(row: Row, mode: str, lives: Lives) -> None:
    bare, ours = lives(mode)
    wanted = bare(row.line)
    with held(ours, row.held or READ):
        done = ours.do(row.line)
    assert_kept(row, done, wanted, ours)


def assert_kept(row: Row, done: Done, wanted: Done, ours: Served) -> None:
    """All as without us but for what another holds, which is as it was, and told."""
    if not row.held:
        assert_same(done, wanted)
        return
    place = f"work/{row.held}"
    before = ours.before[place]
    assert wanted.files.get(place) != before, "the table is wrong: it is not written"
    missing = [each for each in (row.held, HOLDER, TASK) if each not in done.said_by_us]
    if done.files.get(place) != before:
        assert missing == [], f"{missing} in {done.complaint!r}; the log: {ours.newest_events()}"
        assert_can_be_brought_back(row, done, ours)
    elif missing or not NEXT.search(done.said_by_us):
        # Of a write that was refused inside of what ends well only the program that wrote can tell.
        assert (done.status, done.complaint != wanted.complaint) == (0, True), f"{missing} in {done.complaint}"
    # What did not go on, or did not begin, has left the rest as it was, beside files that it could not rename.
    odd = {name: each for name, each in different(done, wanted).items() if each[0] != ours.before.get(name)}
    known = {*ours.before, *(wanted.files if done.status else (*wanted.files, *done.files))}
    known -= {name for name in known if name.startswith("git ")}  # what a part of it has committed stays so
    assert {name: each for name, each in odd.items() if name != place and name in known} == {}


def assert_can_be_brought_back(row: Row, done: Done, ours: Served) -> None:
    """Where nothing can keep a command from a file, what it has written over is kept, and that is told."""
    assert not ours.can_keep, "what another holds was written"
    told = re.search(rf"commonhold show ([0-9a-f]+) --to {re.escape(row.held)}", done.said_by_us)
    assert told, done.complaint
    kept = (ours.pristine / "work" / row.held).read_bytes()
    assert hash_bytes(kept).startswith(told[1])
    with ours.daemon.session() as session:
        assert session.content(hash_bytes(kept)) == kept
