"""Commits that concern other files: a real repository, its real index, several agents, and what comes in between."""

import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from threading import Event
from typing import Any

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.patience import PATIENCE_SECONDS

from commonhold.api.service import Service
from commonhold.code.analysis.admission import Findings, examine
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.type_checkers import Diagnostic, TypeChecker, TypeReport
from commonhold.commits import draft
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.use_cases import Surroundings
from commonhold.index.index import SqliteIndex
from commonhold.kernel.answers import CommitAnswer
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.keys import Key, parse
from commonhold.kernel.modes import Mode
from commonhold.kernel.options import Options
from commonhold.kernel.policy import Policies, Suspicion
from commonhold.kernel.refusals import Refusal
from commonhold.merging.branches.verification import Check
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.checks import CommandCheck
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.working_copy import WorkingCopy
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow

F = "def f(value):\n    return value\n"
F_SCALED = "def f(value, scale):\n    return value * scale\n"
USES = "from lib import f\n\n\ndef use():\n    return f(3)\n"
USES_SCALED = "def use():\n    return f(3, 2)\n"
NOBODY = "def use():\n    return 1\n"
METHOD = "class C:\n    def rarely(self, value):\n        return value\n"
METHOD_SCALED = "    def rarely(self, value, scale):\n        return value * scale\n"
GUESS = "def guess(thing):\n    return thing.rarely(1)\n"


class InterruptedStore(SqliteStore):
    """Lets something happen once, between planning and the gate."""

    meanwhile: Callable[[], object] | None = None

    @contextmanager
    def gate(self) -> Iterator[None]:
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        with super().gate():
            yield


@dataclass
class FakeTypes(TypeChecker):
    """A type checker that says what it is told to, and remembers what it was asked."""

    report: TypeReport
    asked: list[tuple[Mapping[str, bytes | None], frozenset[str]]] = field(default_factory=list)
    confined: list[frozenset[str]] = field(default_factory=list)

    def compare(
        self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
    ) -> TypeReport:
        self.asked.append((dict(changes), frozenset(also)))
        self.confined.append(frozenset(confined))
        return self.report

    def close(self) -> None:
        pass


@dataclass
class House:
    """A repository, and agents that share it: each with a store and an index of its own, as processes have them."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    types: TypeChecker | None = None
    tests_of: Callable[[Sequence[str]], Check] | None = None
    suspicions: dict[Key, Suspicion] = field(default_factory=dict)
    services: dict[str, Service] = field(default_factory=dict)
    stores: dict[str, InterruptedStore] = field(default_factory=dict)

    @property
    def state(self) -> str:
        return find_repository(str(self.folder)).state_folder

    def agent(self, name: str) -> Service:
        if name not in self.services:
            self.stores[name] = InterruptedStore(self.state, synchronous="OFF")
            index = SqliteIndex(self.state, str(self.folder), Git(str(self.folder)), processes=1)
            self.services[name] = Service(
                store=self.stores[name],
                files=WorkingTree(str(self.folder)),
                clock=self.clock,
                ids=self.ids,
                agent=name,
                options=Options(retention_seconds=1e6, policies=Policies(suspicions=self.suspicions)),
                surroundings=Surroundings(see=lambda: Insight(index, self.types, self.tests_of)),
            )
        return self.services[name]

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, name: str, *edits: Edit, **more: object) -> CommitAnswer:
        return self.agent(name).commit(Changeset(edits, "scale it", **more))  # type: ignore[arg-type]

    def replace(self, name: str, key: str, text: str) -> Edit:
        """An edit of a region as it is now."""
        return Edit(Op.REPLACE, key, self.agent(name).read(key)[0].hash, text)

    def hash_of(self, path: str) -> str:
        return self.agent("onlooker").read(path)[0].hash

    def run_tests(self, command: str) -> None:
        git = Git(str(self.folder))
        self.tests_of = lambda paths: CommandCheck(command.replace("{tests}", " ".join(paths)), WorkingCopy(git))

    def close(self) -> None:
        for service in self.services.values():
            service.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    subprocess.run(("git", "init", "-q", str(tmp_path / "root")), check=True)
    house = House(tmp_path / "root")
    house.write(lib=F, use=USES, unrelated="def other():\n    return 1\n")
    yield house
    house.close()


def required(answer: CommitAnswer) -> list[str]:
    assert answer.outcome == "refused"
    return [each.key for each in answer.required]


def test_a_caller_in_another_file_is_named_with_its_line_and_why(house: House) -> None:
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED))
    assert answer.code is Refusal.REQUIRE_ADDITIONAL_LOCKS
    (needed,) = answer.required
    assert (needed.key, needed.where, needed.evidence) == ("file:use.py#use", "use.py:5", Evidence.CONTRACT)
    assert needed.why == (
        "the parameters of `f` changed from (value) to (value, scale), and `use` calls `f(_)`, which does not bind"
    )
    assert (house.folder / "lib.py").read_text() == F


def test_what_mends_its_callers_is_admitted_whole(house: House) -> None:
    edits = (house.replace("one", "lib.py#f", F_SCALED), house.replace("one", "use.py#use", USES_SCALED))
    answer = house.commit("one", *edits)
    assert answer.outcome == "committed"
    assert (house.folder / "use.py").read_text().endswith(USES_SCALED)


def test_what_touches_the_caller_without_mending_it_is_not(house: House) -> None:
    edits = (
        house.replace("one", "lib.py#f", F_SCALED),
        house.replace("one", "use.py#use", USES_SCALED.replace(", 2", "")),
    )
    assert required(house.commit("one", *edits)) == ["file:use.py#use"]


def test_who_gives_whole_files_has_mended_what_is_new_in_them_and_no_more(house: House) -> None:
    becomes_async = house.replace("one", "lib.py", f"async {F}")
    alongside = house.replace("one", "use.py", f"{USES}\n\nCOUNT = 1\n")
    answer = house.commit("one", becomes_async, alongside)
    assert required(answer) == ["file:use.py#use"]
    mended = house.replace("one", "use.py", USES.replace("return f(3)", "return run(f(3))"))
    assert house.commit("one", becomes_async, mended).outcome == "committed"


def test_a_rename_of_what_everybody_uses_is_told_in_few_words(house: House) -> None:
    house.write(**{f"use{number}": USES for number in range(40)})
    answer = house.commit("one", house.replace("one", "lib.py", "def g(value):\n    return value\n"))
    assert len(required(answer)) == 82  # the import and the call, in 41 files
    assert answer.why.count("still") == 5
    assert answer.why.endswith("; and 77 more")
    assert answer.next is not None
    assert answer.next.arguments["keys"] == ["file:./"]
    assert len(answer.repair.regions) == 20


def test_a_lease_instead_of_mending_leaves_a_debt(house: House) -> None:
    leased = house.agent("one").acquire("lib.py#f", "use.py#use", task="scale it").lease
    assert leased is not None
    leases = (LeaseRef(leased.id, leased.fence),)
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED), leases=leases)
    assert answer.outcome == "committed"
    assert [str(debt.key) for debt in house.agent("one").status().debts] == ["file:use.py#use"]
    mended = house.commit("one", house.replace("one", "use.py#use", USES_SCALED), leases=leases)
    assert mended.outcome == "committed"
    assert house.agent("one").status().debts == ()


def test_a_debt_that_got_another_cause_meanwhile_is_not_settled(house: House) -> None:
    house.write(far=F.replace("f(", "g("), use=f"from far import g\n{USES.replace('f(3)', 'f(3) + g(3)')}")
    leased = house.agent("one").acquire("lib.py", "far.py", "use.py", task="scale it").lease
    assert leased is not None
    leases = (LeaseRef(leased.id, leased.fence),)
    house.commit("one", house.replace("one", "lib.py#f", F_SCALED), leases=leases)
    back = house.replace("one", "lib.py#f", F)
    other = house.replace("one", "far.py#g", F_SCALED.replace("f(", "g("))
    house.stores["one"].meanwhile = lambda: house.commit("one", other, leases=leases)
    assert house.commit("one", back, leases=leases).outcome == "committed"
    (debt,) = house.agent("one").status().debts
    assert (debt.key, len(debt.since)) == ("file:use.py#use", 2)
    again = house.replace("one", "far.py#g", F.replace("f(", "g("))
    assert house.commit("one", again, leases=leases).outcome == "committed"
    assert house.agent("one").status().debts == ()


def test_the_pair_in_the_other_order_the_signature_first(house: House) -> None:
    house.write(use=NOBODY)
    assert house.commit("one", house.replace("one", "lib.py#f", F_SCALED)).outcome == "committed"
    answer = house.commit("two", house.replace("two", "use.py", USES))
    assert answer.outcome == "refused"
    assert "takes (value, scale)" in answer.why


def test_a_caller_that_comes_between_planning_and_the_gate_is_found(house: House) -> None:
    """Both plans were right when they were made; what the gate lets through is looked at in the state that is there."""
    house.write(use=NOBODY)
    signature, caller = house.replace("one", "lib.py#f", F_SCALED), house.replace("two", "use.py", USES)
    others: list[CommitAnswer] = []
    house.stores["one"].meanwhile = lambda: others.append(house.commit("two", caller))
    answer = house.commit("one", signature)
    assert [each.outcome for each in others] == ["committed"]
    assert required(answer) == ["file:use.py#use"]
    assert (house.folder / "lib.py").read_text() == F


def test_a_signature_that_comes_between_planning_a_call_and_the_gate_is_found(house: House) -> None:
    house.write(use=NOBODY)
    signature, caller = house.replace("one", "lib.py#f", F_SCALED), house.replace("two", "use.py", USES)
    others: list[CommitAnswer] = []
    house.stores["two"].meanwhile = lambda: others.append(house.commit("one", signature))
    answer = house.commit("two", caller)
    assert [each.outcome for each in others] == ["committed"]
    assert answer.outcome == "refused"
    assert (house.folder / "use.py").read_text() == NOBODY


def test_what_is_written_past_everybody_before_the_gate_is_found_too(house: House) -> None:
    house.write(use=NOBODY)
    signature = house.replace("one", "lib.py#f", F_SCALED)
    house.stores["one"].meanwhile = lambda: house.write(use=USES)
    assert required(house.commit("one", signature)) == ["file:use.py#use"]


def test_what_comes_in_between_and_has_nothing_to_do_with_it_is_in_nobodys_way(house: House) -> None:
    house.write(use=NOBODY)
    signature = house.replace("one", "lib.py#f", F_SCALED)
    house.stores["one"].meanwhile = lambda: house.write(unrelated="def other():\n    return 2\n")
    assert house.commit("one", signature).outcome == "committed"


def test_the_index_may_be_deleted_in_between(house: House) -> None:
    signature = house.replace("one", "lib.py#f", F_SCALED)
    assert required(house.commit("one", signature)) == ["file:use.py#use"]

    def delete() -> None:
        found = [path for path in Path(house.state).iterdir() if path.name.startswith("index")]
        assert found
        for path in found:
            rmtree(path) if path.is_dir() else path.unlink()

    house.stores["one"].meanwhile = delete
    assert required(house.commit("one", signature)) == ["file:use.py#use"]
    assert required(house.commit("one", signature)) == ["file:use.py#use"]


def test_a_file_that_is_deleted_has_its_importers_named(house: House) -> None:
    gone = Edit(Op.DELETE_FILE, "lib.py", house.hash_of("lib.py"))
    assert required(house.commit("one", gone)) == ["file:use.py#@header"]
    emptied = Edit(Op.DELETE_FILE, "use.py", house.hash_of("use.py"))
    assert house.commit("one", gone, emptied).outcome == "committed"
    assert not (house.folder / "lib.py").exists()


def test_a_file_that_is_renamed_needs_its_importers_mended(house: House) -> None:
    renamed = Edit(Op.RENAME_FILE, "lib.py", house.hash_of("lib.py"), to="moved.py")
    assert required(house.commit("one", renamed)) == ["file:use.py#@header"]
    mended = house.replace("one", "use.py", USES.replace("from lib", "from moved"))
    assert house.commit("one", renamed, mended).outcome == "committed"
    assert (house.folder / "moved.py").read_text() == F
    assert house.commit("one", house.replace("one", "moved.py#f", F_SCALED)).outcome == "refused"


def test_changes_that_concern_nobody_ask_nobody(house: House) -> None:
    house.types = FakeTypes(TypeReport())
    assert (
        house.commit("one", house.replace("one", "lib.py#f", "def f(value):\n    return 2 * value\n")).outcome
        == "committed"
    )
    assert house.types.asked == []


# What only a name tells.


def suspicious(house: House, policy: Suspicion | None, **files: str) -> CommitAnswer:
    house.write(shapes=METHOD, guess=GUESS, **files)
    if policy is not None:
        house.suspicions[parse("shapes.py").key()] = policy
    return house.commit("one", house.replace("one", "shapes.py#C.rarely", METHOD_SCALED))


def test_a_suspicion_asks_for_a_lease_of_the_file(house: House) -> None:
    answer = suspicious(house, None)
    assert answer.code is Refusal.ESCALATION_REQUIRED
    (needed,) = answer.required
    assert (needed.key, needed.evidence) == ("file:guess.py", Evidence.SUSPICION)
    assert "and perhaps `guess` calls" in needed.why
    leased = house.agent("one").acquire("guess.py", "shapes.py", task="scale it").lease
    assert leased is not None
    edit = house.replace("one", "shapes.py#C.rarely", METHOD_SCALED)
    answer = house.commit("one", edit, leases=(LeaseRef(leased.id, leased.fence),))
    assert answer.outcome == "committed"


def test_the_next_call_of_an_escalation_is_all_that_it_takes(house: House) -> None:
    """The lease need not be named: it is the holder's own, whatever file the change itself writes."""
    step = suspicious(house, None).next
    assert step is not None
    assert step.call == "acquire"
    assert house.agent("one").acquire(*step.arguments["keys"], task="scale it").lease is not None  # type: ignore[misc]
    assert house.commit("one", house.replace("one", "shapes.py#C.rarely", METHOD_SCALED)).outcome == "committed"


def test_a_lease_on_what_is_suspected_must_be_exclusive_and_ones_own(house: House) -> None:
    house.agent("two").acquire("guess.py", task="look", mode=Mode.SHARED)
    house.agent("one").acquire("guess.py", task="look", mode=Mode.SHARED)
    answer = suspicious(house, None)
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert [each.holder for each in answer.conflicts] == ["two"]


def test_others_who_hold_the_callers_are_named_and_the_next_call_waits_for_them(house: House) -> None:
    house.agent("two").acquire("use.py#use", task="rework it")
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED))
    assert answer.code is Refusal.REQUIRE_ADDITIONAL_LOCKS
    assert required(answer) == ["file:use.py#use"]
    (conflict,) = answer.conflicts
    assert (conflict.key, conflict.holder, conflict.task) == ("file:use.py#use", "two", "rework it")
    assert answer.next is not None
    assert answer.next.call == "acquire"
    assert answer.next.why.startswith("do other work first, until two has released")


def test_a_broken_contract_is_named_before_a_suspicion(house: House) -> None:
    """The regions to mend are known; a suspicion of another file makes that no less certain."""
    calls = "from shapes import C\n\n\ndef use():\n    return C().rarely(1)\n"
    answer = suspicious(house, None, shop=calls)
    assert answer.code is Refusal.REQUIRE_ADDITIONAL_LOCKS
    assert [each.key for each in answer.required] == ["file:shop.py#use", "file:guess.py"]
    assert [each.evidence for each in answer.required] == [Evidence.CONTRACT, Evidence.SUSPICION]
    assert [each.key for each in answer.repair.regions] == ["file:shop.py#use"]
    assert answer.next is not None
    assert answer.next.arguments["keys"] == ["file:shop.py#use", "file:guess.py"]
    mended = house.replace("one", "shop.py#use", "def use():\n    return C().rarely(1, 2)\n")
    answer = house.commit("one", house.replace("one", "shapes.py#C.rarely", METHOD_SCALED), mended)
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert [each.key for each in answer.required] == ["file:guess.py"]


def test_many_places_are_counted_and_the_folder_around_them_is_asked_for(house: House) -> None:
    answer = suspicious(house, None, **{f"pkg__guess_{number}": GUESS for number in range(7)})
    (needed,) = answer.required
    assert needed.key == "file:./"
    assert needed.why.endswith("; and 3 more")
    assert needed.why.count(".py:2") == 5


def test_a_suspicion_may_only_be_told(house: House) -> None:
    answer = suspicious(house, Suspicion.NOTICE)
    assert answer.outcome == "committed"
    assert any("and perhaps `guess` calls" in notice for notice in answer.notices)


TEST = "from shapes import C\n\n\ndef test_it():\n    assert C().rarely(1, 1) == 1\n"


def test_the_tests_decide_and_pass(house: House) -> None:
    house.run_tests("test -f shapes.py && test -f {tests} && echo fine")
    answer = suspicious(house, Suspicion.TESTS, tests__test_shapes=TEST)
    assert answer.outcome == "committed"
    assert any("1 file of tests passed with the change" in notice for notice in answer.notices)


def test_the_tests_decide_and_fail_on_the_candidate(house: House) -> None:
    """They are run on a copy that has the change, and the files here are as they were."""
    house.run_tests("! grep -q scale shapes.py || { echo no scale, please; exit 1; }; : {tests}")
    answer = suspicious(house, Suspicion.TESTS, tests__test_shapes=TEST)
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert "its tests fail with the change (no scale, please)" in answer.why
    assert "scale" not in (house.folder / "shapes.py").read_text()


def test_without_a_known_test_it_escalates(house: House) -> None:
    house.run_tests("exit 1; : {tests}")
    answer = suspicious(house, Suspicion.TESTS)
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert "no test is known to tell" in answer.why


def test_without_a_command_it_escalates(house: House) -> None:
    answer = suspicious(house, Suspicion.TESTS, tests__test_shapes=TEST)
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert "COMMONHOLD_TESTS names no command" in answer.why


# What a type checker says.


COMPLAINT = TypeReport((Diagnostic("use.py", 2, "Expected `int`"),), "checker 1")
ABOUT_F = TypeReport((Diagnostic("use.py", 2, "Expected `int`, found `f`"),), "checker 1")


def test_what_a_type_checker_newly_says_binds_where_it_is_about_a_changed_contract(house: House) -> None:
    house.write(use=NOBODY)
    house.types = FakeTypes(ABOUT_F)
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED))
    assert answer.code is Refusal.REQUIRE_ADDITIONAL_LOCKS
    assert [(each.key, each.evidence) for each in answer.required] == [("file:use.py#use", Evidence.TYPES)]
    assert "Expected `int`" in answer.why
    ((changes, _),) = house.types.asked
    assert list(changes) == ["lib.py"]


def test_it_answers_while_the_file_itself_is_examined(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write(use=NOBODY)
    is_asked, is_examined, met = Event(), Event(), list[bool]()

    class Waiting(FakeTypes):
        def compare(
            self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
        ) -> TypeReport:
            is_asked.set()
            met.append(is_examined.wait(PATIENCE_SECONDS))
            return super().compare(changes, also, confined)

    def examined(*sides: Any) -> Findings:
        met.append(is_asked.wait(PATIENCE_SECONDS))
        is_examined.set()
        return examine(*sides)

    house.types = Waiting(TypeReport())
    monkeypatch.setattr(draft, "examine", examined)
    assert house.commit("one", house.replace("one", "lib.py#f", F_SCALED)).outcome == "committed"
    assert met == [True, True]


def test_what_it_says_of_a_file_that_the_project_does_not_check_is_told(house: House) -> None:
    house.write(use=NOBODY)
    house.types = FakeTypes(TypeReport(checker="checker 1", unchecked=ABOUT_F.new))
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED))
    assert answer.outcome == "committed"
    assert any(each.startswith("use.py:2, which the project's own type checks leave out") for each in answer.notices)


def test_what_it_says_of_a_call_that_is_expected_to_fail_is_told(house: House) -> None:
    head = "import pytest\nfrom lib import f\n\n\n"
    house.write(use=NOBODY, test_use=f"{head}def test_use():\n    with pytest.raises(TypeError):\n        f(1)\n")
    house.types = FakeTypes(TypeReport((Diagnostic("test_use.py", 7, "Expected `int`, found `f`"),), "checker 1"))
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED))
    assert answer.outcome == "committed"
    assert any("Expected `int`, found `f`" in each for each in answer.notices)


def test_what_it_complained_of_is_owed_until_what_is_offered_is_as_it_was(house: House) -> None:
    house.write(use=NOBODY)
    house.types = FakeTypes(ABOUT_F)
    leased = house.agent("one").acquire("lib.py", "use.py#use", task="scale it").lease
    assert leased is not None
    leases = (LeaseRef(leased.id, leased.fence),)
    assert house.commit("one", house.replace("one", "lib.py#f", F_SCALED), leases=leases).outcome == "committed"
    house.types.report = TypeReport()
    (debt,) = house.agent("one").status().debts
    assert (debt.key, debt.evidence) == ("file:use.py#use", Evidence.TYPES)
    widened = F_SCALED.replace("scale)", "scale=1)")
    assert house.commit("one", house.replace("one", "lib.py#f", widened), leases=leases).outcome == "committed"
    assert house.agent("one").status().debts == (debt,)  # a checker cannot be asked how it was before
    back = F.replace("return value", "return 2 * value")
    assert house.commit("one", house.replace("one", "lib.py#f", back), leases=leases).outcome == "committed"
    assert house.agent("one").status().debts == ()


def test_what_it_complained_of_stays_owed_where_a_contract_that_broke_is_taken_back(house: House) -> None:
    house.types = types = FakeTypes(TypeReport((Diagnostic("use.py", 5, "Expected `int`, found `f`"),), "checker 1"))
    house.write(far="def g(value):\n    return value\n", use="from far import g\n\n\ndef use():\n    return g(3)\n")
    leased = house.agent("one").acquire("lib.py", "far.py", "use.py#use", task="scale it").lease
    assert leased is not None
    leases = (LeaseRef(leased.id, leased.fence),)
    for key, text in (("lib.py#f", F_SCALED), ("far.py#g", "def g():\n    return 1\n")):
        assert house.commit("one", house.replace("one", key, text), leases=leases).outcome == "committed"
        types.report = TypeReport()
    back = house.replace("one", "far.py#g", "def g(value):\n    return value\n")
    assert house.commit("one", back, leases=leases).outcome == "committed"
    assert [each.key for each in house.agent("one").status().debts] == ["file:use.py#use"]
    assert house.commit("one", house.replace("one", "lib.py#f", F), leases=leases).outcome == "committed"
    assert house.agent("one").status().debts == ()


def test_what_it_says_of_something_else_is_suspected(house: House) -> None:
    house.write(use=NOBODY)
    house.types = FakeTypes(COMPLAINT)
    answer = house.commit("one", house.replace("one", "lib.py#f", F_SCALED))
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert [(each.key, each.evidence) for each in answer.required] == [("file:use.py", Evidence.TYPES)]


def test_where_no_contract_changed_what_it_says_is_suspected(house: House) -> None:
    house.write(use=NOBODY)
    house.types = FakeTypes(COMPLAINT)
    text = F.replace("value)", "value: int)").replace("return value", "return [value]")
    answer = house.commit("one", house.replace("one", "lib.py#f", text))
    assert answer.code is Refusal.ESCALATION_REQUIRED
    assert [(each.key, each.evidence) for each in answer.required] == [("file:use.py", Evidence.TYPES)]


def test_where_only_annotations_changed_it_is_told(house: House) -> None:
    house.write(use=NOBODY)
    house.types = FakeTypes(COMPLAINT)
    answer = house.commit("one", house.replace("one", "lib.py#f", F.replace("value)", "value: int)")))
    assert answer.outcome == "committed"
    assert any("Expected `int`" in notice for notice in answer.notices)


def test_what_it_says_of_the_edited_place_is_its_authors_business(house: House) -> None:
    house.types = FakeTypes(TypeReport((Diagnostic("lib.py", 1, "Expected `int`"),), "checker 1"))
    edit = house.replace("one", "lib.py#f", F.replace("value)", "value: int)"))
    assert house.commit("one", edit).outcome == "committed"


def test_it_is_asked_about_the_files_that_use_what_changed(house: House) -> None:
    house.types = FakeTypes(TypeReport())
    assert (
        house.commit("one", house.replace("one", "lib.py#f", F.replace("value)", "value: int)"))).outcome == "committed"
    )
    assert [also for _, also in house.types.asked] == [{"use.py"}]
    assert house.types.confined == [{"lib.py"}]


def test_it_examines_an_edited_file_whose_rest_names_what_changed(house: House) -> None:
    house.types = FakeTypes(TypeReport())
    house.write(lib=F + "\n\nKEPT = [f]\n")
    edit = house.replace("one", "lib.py#f", F.replace("value)", "value: int)"))
    assert house.commit("one", edit).outcome == "committed"
    both = [edit, house.replace("one", "unrelated.py#other", "def other(more=0):\n    return 1\n")]
    assert house.commit("one", *both[1:], house.replace("one", "lib.py#f", F)).outcome == "committed"
    assert house.types.confined == [frozenset()] * 2


def test_why_it_could_not_be_asked_is_told_once(house: House) -> None:
    house.types = FakeTypes(TypeReport(why="it gave no answer"))
    first = house.commit("one", house.replace("one", "lib.py#f", F.replace("value)", "value: int)")))
    second = house.commit("one", house.replace("one", "lib.py#f", F.replace("value)", "value: str)")))
    assert [answer.outcome for answer in (first, second)] == ["committed"] * 2
    assert "it gave no answer" in first.notices
    assert "it gave no answer" not in second.notices


def test_that_there_is_no_type_checker_is_left_to_doctor(house: House) -> None:
    house.types = FakeTypes(TypeReport(why="it is not found", is_missing=True))
    answer = house.commit("one", house.replace("one", "lib.py#f", F.replace("value)", "value: int)")))
    assert answer.outcome == "committed"
    assert "it is not found" not in answer.notices
