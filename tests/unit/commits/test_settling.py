"""What became of what a tool was to write: recorded as it is, whoever came between, and nothing is lost of it."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.own_tools import SOURCE, F, G, Hand, Workshop, commits, workshop

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.external.external_writes import OUTSIDE, ExternalWrites, Made, Seen
from commonhold.commits.plan import Plan, Rejected
from commonhold.commits.planning import Planner
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.events import Committed, Event
from commonhold.kernel.files import Files
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.write_slots import SLOT_SECONDS
from commonhold.leases.registry import TableRegistry
from commonhold.stores import codec
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

F_OTHERWISE = SOURCE.replace("return 1", "return 10")
G_OTHERWISE = SOURCE.replace("return 2", "return 20")
BOTH = F_OTHERWISE.replace("return 2", "return 20")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def slots(hand: Hand) -> list[str]:
    return [each for each in hand.leased() if each.startswith("slot:")]


def changed(commit: Committed) -> list[str]:
    return [each.key for each in commit.regions if "#" in each.key]


def check_chain(shop: Workshop, path: str = "a.py") -> None:
    """Each recorded change starts from what the one before left, all of it is kept, and the last is what is there."""
    service = shop.opened[0]
    steps = [each for commit in commits(service) for each in commit.files if each.path == path]
    for earlier, later in pairwise(steps):
        assert later.before == earlier.after
    for step in steps:
        for each in filter(None, (step.before, step.after)):
            assert hash_bytes(service.content(each)) == each
    assert steps[-1].after == hash_bytes(shop.path(path).read_bytes())


# In time.


def test_what_was_proposed_and_written_is_recorded_as_if_committed(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.service("two")
    two.read("a.py#f")
    taken = one.edit({"a.py": F_OTHERWISE}, intent="ten is enough")
    assert (taken.outcome, taken.code, taken.review) == ("recorded", None, "")
    (commit,) = commits(one.service)
    assert (commit.holder, commit.intent, changed(commit)) == ("one", "ten is enough", ["file:a.py#f"])
    assert (commit.unadmitted, commit.worktree) == ("", one.service.root)
    assert slots(one) == []
    (news,) = two.news()
    assert news.notice == "`f` in a.py, which you read, was changed by one (ten is enough): its body changed"
    check_chain(shop)


def test_what_was_written_otherwise_is_recorded_as_it_is(shop: Workshop) -> None:
    """A tool formats, perhaps: what counts is what is there."""
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", F_OTHERWISE.replace("10", "(10)"))
    assert one.finish_proposal().outcome == "recorded"
    check_chain(shop)


def test_what_was_not_written_is_not_recorded(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    assert one.finish_proposal().outcome == "nothing"
    assert (commits(one.service), slots(one)) == ([], [])
    assert one.finish_proposal().outcome == "nothing"


def test_a_file_that_is_gone_is_recorded_as_gone(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", None)
    assert one.finish_proposal().outcome == "recorded"
    (step,) = commits(one.service)[0].files
    assert (step.before, step.after) == (hash_bytes(SOURCE.encode()), None)


@pytest.mark.parametrize("is_late", [False, True])
def test_what_is_no_file_any_more_is_recorded_as_gone(shop: Workshop, *, is_late: bool) -> None:
    one, outside = shop.hand("one"), shop.service(None)
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", None)
    shop.write("a.py/inside.py", SOURCE)
    shop.clock.advance(SLOT_SECONDS + 1 if is_late else 0)
    assert outside.record_external_changes(None).outcome == "nothing", "it is with who was to write it"
    assert (one.finish_proposal().outcome, one.leased()) == ("recorded", ["file:a.py#f"])
    (gone,) = commits(one.service)
    assert [(each.path, each.after) for each in gone.files] == [("a.py", None)]
    assert gone.holder == (OUTSIDE if is_late else "one")
    one.service.end_turn()
    assert one.leased() == []


def test_what_could_not_be_admitted_is_kept_for_review_and_told(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", "def f(:\n")
    taken = one.finish_proposal()
    assert (taken.outcome, taken.code) == ("unadmitted", Refusal.PARSE_INVALID)
    assert shop.text() == "def f(:\n", "nothing is reverted"
    (commit,) = commits(one.service)
    assert commit.unadmitted.startswith("PARSE_INVALID: ")
    (work,) = one.service.partial_works()
    assert (work.lease_id, work.holder) == (taken.review, "one")
    assert work.task == "not admitted (PARSE_INVALID): mend it"
    left = {each.key: one.service.content(each.base or "") for each in work.changes if each.now is None}
    assert left == {"file:a.py#f": F.encode(), "file:a.py#g": G.encode()}
    check_chain(shop)


def test_what_went_into_a_region_that_another_holds_is_unadmitted(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.service("two")
    two.acquire("a.py#g", task="mine")
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", BOTH)
    taken = one.finish_proposal()
    assert (taken.outcome, taken.code) == ("unadmitted", Refusal.LOCK_CONFLICT)
    assert "two" in one.service.partial_works()[0].task + taken.why + str(one.service.leases())


def test_two_calls_are_settled_each_by_its_name(shop: Workshop) -> None:
    shop.write("b.py", "x = 1\n")
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE}, call="first")
    one.propose({"b.py": "x = 2\n"}, call="second")
    one.write("second")
    assert one.finish_proposal("second").outcome == "recorded"
    assert len(slots(one)) == 1
    one.write("first")
    assert one.finish_proposal("first").outcome == "recorded"
    assert slots(one) == []


def test_calls_without_a_name_are_settled_by_their_files(shop: Workshop) -> None:
    shop.write("b.py", "x = 1\n")
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE}, call="")
    one.propose({"b.py": "x = 2\n"}, call="")
    shop.write("a.py", F_OTHERWISE)
    assert one.service.finish_proposal("", ["a.py"]).outcome == "recorded"
    assert len(slots(one)) == 1


def test_what_nobody_said_was_done_is_seen_with_the_next_call_on_the_file(shop: Workshop) -> None:
    for name in ("first", ""):
        with workshop(shop.folder / (name or "nameless")) as fresh:
            one = fresh.hand("one")
            one.propose({"a.py": F_OTHERWISE}, call=name)
            one.write(name)
            one.propose({"a.py": BOTH}, call="")
            assert [changed(each) for each in commits(one.service)] == [["file:a.py#f"]]
            one.write("")
            one.finish_proposal("")
            assert [changed(each) for each in commits(one.service)] == [["file:a.py#f"], ["file:a.py#g"]]
            check_chain(fresh)
            assert slots(one) == []


def test_the_end_of_the_turn_settles_all(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    one.write()
    assert one.service.end_turn().outcome == "recorded"
    assert one.leased() == []


# Too late.


def test_a_slot_that_is_over_lets_others_write_and_what_is_written_then_is_found(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE})
    shop.clock.advance(SLOT_SECONDS + 1)
    one.write()
    assert one.finish_proposal().outcome == "recorded", "late, over nobody"
    two.edit({"a.py": BOTH})
    assert [each.holder for each in commits(one.service)] == ["one", "two"]
    check_chain(shop)


def test_a_session_that_goes_on_without_writing_keeps_nobody_from_the_file(shop: Workshop) -> None:
    """Its user said no, say: no hook tells that."""
    shop.write("b.py", "x = 1\n")
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE})
    for _ in range(2):
        shop.clock.advance(SLOT_SECONDS * 0.6)
        one.service.record_read("b.py")
    assert slots(one) == []
    assert two.edit({"a.py": G_OTHERWISE}).outcome == "recorded"


def test_what_is_written_late_over_anothers_change_is_shown_with_what_it_overwrote(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE}, intent="ten is enough")
    shop.clock.advance(SLOT_SECONDS + 1)
    two.edit({"a.py": G_OTHERWISE}, intent="twenty is enough")
    one.write()
    taken = one.finish_proposal()
    assert (taken.outcome, taken.code) == ("unadmitted", Refusal.LEASE_LOST)
    assert "overwrote what two had committed" in taken.why
    (work,) = two.service.partial_works()
    assert (work.lease_id, work.holder) == (taken.review, "one")
    assert two.service.content(hash_bytes(G_OTHERWISE.encode())) == G_OTHERWISE.encode()
    assert b"def g():\n    return 20\n" in {two.service.content(each.base or "") for each in work.changes}
    check_chain(shop)


def test_what_was_written_late_and_overwritten_at_once_is_told_to_who_wrote_it(shop: Workshop) -> None:
    """Another had the file by then, and its tool wrote last: nothing of the late text was ever seen."""
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE})
    shop.clock.advance(SLOT_SECONDS + 1)
    two.propose({"a.py": G_OTHERWISE})
    one.write()
    two.write()
    two.finish_proposal()
    taken = one.finish_proposal()
    kept = hash_bytes(F_OTHERWISE.encode())
    assert taken.notices == (
        f"a.py is as two wrote it, not as you did, since you were late: read it, do it again; the text is kept: {kept}",
    )
    assert one.service.content(kept) == F_OTHERWISE.encode()
    check_chain(shop)


def test_what_another_wrote_late_over_it_is_laid_on_the_other(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE})
    shop.clock.advance(SLOT_SECONDS + 1)
    two.propose({"a.py": G_OTHERWISE})
    two.write()
    one.write()
    taken = two.finish_proposal()
    assert [(each.holder, changed(each)) for each in commits(one.service)] == [("one", ["file:a.py#f"])]
    assert "a.py is as one wrote it, not as you did" in taken.notices[-1]
    assert one.finish_proposal().outcome == "nothing"
    check_chain(shop)


@pytest.mark.parametrize("is_late", [True, False])
def test_what_others_went_on_from_is_not_said_to_be_gone(shop: Workshop, *, is_late: bool) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE})
    one.write()
    shop.clock.advance(SLOT_SECONDS + 1 if is_late else 0)
    if is_late:
        two.edit({"a.py": BOTH})
    assert one.finish_proposal().notices == ()


def test_a_commit_of_another_working_tree_overtakes_nothing(shop: Workshop) -> None:
    shop.write("a.py", SOURCE, "tree")
    one, elsewhere, two = shop.hand("one"), shop.hand("far", "tree"), shop.hand("two")
    one.propose({"a.py": F_OTHERWISE})
    elsewhere.edit({"a.py": G_OTHERWISE})
    elsewhere.service.end_turn()
    one.write()
    assert one.finish_proposal().outcome == "recorded"
    one.service.end_turn()
    one.propose({"a.py": F_OTHERWISE.replace("10", "11")})
    shop.clock.advance(SLOT_SECONDS + 1)
    two.edit({"a.py": BOTH})
    two.service.end_turn()
    elsewhere.edit({"a.py": G_OTHERWISE.replace("20", "21")})
    one.write()
    assert one.finish_proposal().code is Refusal.LEASE_LOST, "the commit of two is found behind the newer one elsewhere"


def test_what_another_made_of_the_file_after_a_slot_was_over_is_not_laid_on_the_session(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    shop.clock.advance(SLOT_SECONDS + 1)
    shop.write("a.py", G_OTHERWISE)
    assert one.finish_proposal().outcome == "recorded"
    assert [each.holder for each in commits(one.service)] == [OUTSIDE]
    assert one.service.partial_works() == ()


def test_a_change_that_was_recorded_meanwhile_is_not_recorded_again(shop: Workshop) -> None:
    """A command of the same session ends while its tool still has the file: both see one change."""
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    one.write()
    before: dict[str, str | None] = {"a.py": hash_bytes(SOURCE.encode())}
    assert one.service.record_external_writes(before, intent="a command").outcome == "recorded"
    assert one.finish_proposal().outcome == "nothing"
    assert len(commits(one.service)) == 1


def test_what_anothers_tool_has_just_written_is_not_laid_on_a_command_that_ran_beside_it(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.service("two")
    before = {"a.py": hash_bytes(SOURCE.encode()), "b.py": None}
    two.store_contents([SOURCE.encode()])
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", F_OTHERWISE)
    shop.write("b.py", "x = 1\n")
    taken = two.record_external_writes(before, intent="$ make b.py")
    assert (taken.outcome, [each.key for each in taken.regions if "#" not in each.key]) == ("recorded", ["file:b.py"])
    assert one.finish_proposal().outcome == "recorded"
    assert two.record_external_writes(before, intent="$ make b.py").outcome == "nothing", (
        "by now the log tells all of it"
    )
    assert [(each.holder, each.files[0].path) for each in commits(two)] == [("two", "b.py"), ("one", "a.py")]


def test_what_a_command_wrote_over_what_anothers_tool_was_to_write_is_its_own(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.service("two")
    two.store_contents([SOURCE.encode()])
    one.propose({"a.py": F_OTHERWISE})
    shop.write("a.py", G_OTHERWISE)
    assert two.record_external_writes({"a.py": hash_bytes(SOURCE.encode())}).code == Refusal.LOCK_CONFLICT
    check_chain(shop)


def test_an_overdue_proposal_is_found_by_whoever_looks(shop: Workshop) -> None:
    one, watcher = shop.hand("one"), shop.service(None)
    one.propose({"a.py": F_OTHERWISE})
    one.write()
    assert watcher.record_external_changes(["a.py"]).outcome == "nothing", "it is just being written"
    shop.clock.advance(SLOT_SECONDS + 1)
    watcher.record_external_changes(["a.py"])
    assert [each.holder for each in commits(watcher)] == ["one"]
    assert one.finish_proposal().outcome == "nothing"
    check_chain(shop)


def test_a_commit_that_comes_between_looking_and_recording_is_seen(shop: Workshop) -> None:
    """What is recorded last is what is there, else the next who looks would lay the difference on nobody."""
    one, two = shop.service("one"), shop.service("two")
    two.read("a.py")
    shop.write("a.py", F_OTHERWISE)
    planner_of = one._writing.external_writes._planner_of

    def overtaken(files: Files) -> Planner:
        (g,) = [each for each in two.regions("a.py").regions if each.key.qualname == "g"]
        two.commit(Changeset((Edit(Op.REPLACE, "a.py#g", g.hash, "def g():\n    return 20\n"),)))
        one._writing.external_writes._planner_of = planner_of
        return planner_of(files)

    one._writing.external_writes._planner_of = overtaken
    one.record_external_writes({"a.py": hash_bytes(SOURCE.encode())}, intent="a command")
    steps = [each for commit in commits(one) for each in commit.files]
    assert [each.after for each in steps] == [hash_bytes(BOTH.encode())] * 2
    assert shop.service(None).record_external_changes(["a.py"]).outcome == "nothing"


def test_a_program_that_writes_on_and_on_is_not_waited_for(shop: Workshop) -> None:
    one = shop.service("one")
    planner_of, count = one._writing.external_writes._planner_of, iter(range(100))

    def interfered(files: Files) -> Planner:
        shop.write("a.py", f"x = {next(count)}\n")
        return planner_of(files)

    one._writing.external_writes._planner_of = interfered
    shop.write("a.py", F_OTHERWISE)
    one.store_contents([SOURCE.encode()])
    assert one.record_external_writes({"a.py": hash_bytes(SOURCE.encode())}).outcome == "recorded"
    assert next(count) == 2


# Sessions that are no more.


def test_a_session_that_is_begun_anew_by_another_process_leaves_partial_work(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.service.start_session("7:1")
    one.edit({"a.py": F_OTHERWISE}, intent="ten is enough")
    one.propose({"a.py": BOTH}, call="unfinished")
    one.write("unfinished")
    one.service.start_session("8:1")
    assert one.leased() == []
    assert len(commits(one.service)) == 2, "what its tool had written was found"
    works = one.service.partial_works()
    assert {(each.holder, each.task) for each in works} == {("one", "ten is enough"), ("one", "mend it")}
    assert two.edit({"a.py": BOTH.replace("20", "21")}).outcome == "recorded"


@pytest.mark.parametrize("process", ["7:1", ""])
def test_a_session_that_goes_on_keeps_what_it_holds(shop: Workshop, process: str) -> None:
    one = shop.hand("one")
    one.service.start_session("7:1")
    one.edit({"a.py": F_OTHERWISE})
    one.service.start_session(process)
    assert one.leased() == ["file:a.py#f"]


def test_a_session_that_is_silent_too_long_loses_what_it_edited(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.edit({"a.py": F_OTHERWISE})
    shop.clock.advance(shop.options.idle_seconds + 1)
    assert two.edit({"a.py": F_OTHERWISE.replace("10", "11")}).outcome == "recorded"
    (work,) = two.service.partial_works()
    assert (work.holder, [each.key for each in work.changes]) == ("one", ["file:a.py#f"])


def test_two_working_trees_have_two_slots_and_leases_of_their_own_files(shop: Workshop) -> None:
    shop.write("a.py", SOURCE, "tree")
    one, two = shop.hand("one"), shop.hand("two", "tree")
    one.propose({"a.py": F_OTHERWISE})
    assert two.propose({"a.py": G_OTHERWISE}).outcome == "committed"
    for hand in (one, two):
        hand.write()
        assert hand.finish_proposal().outcome == "recorded"
    assert (shop.text(), shop.text(tree="tree")) == (F_OTHERWISE, G_OTHERWISE)


def test_where_leases_are_kept_elsewhere_it_is_all_the_same(shop: Workshop) -> None:
    registries = [TableRegistry(SqliteStore(str(shop.folder / "shared"), synchronous="OFF"), shop.clock) for _ in "12"]
    one, two = (shop.hand(name, registry=each) for name, each in zip(("one", "two"), registries, strict=True))
    one.propose({"a.py": F_OTHERWISE})
    (g,) = two.service.read("a.py#g")
    changeset = Changeset((Edit(Op.REPLACE, "a.py#g", g.hash, "def g():\n    return 20\n"),))
    assert two.service.commit(changeset).code is Refusal.LOCK_CONFLICT
    shop.write("a.py", "def f(:\n")
    assert one.finish_proposal().outcome == "unadmitted"
    assert [each.holder for each in two.service.partial_works()] == ["one"]
    one.service.end_turn()
    assert one.leased() == []


def test_a_commit_of_many_files_is_not_read_anew_for_each_of_them(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at all of them does so behind the gate, where everybody waits."""
    paths = [f"m{number}.py" for number in range(40)]
    for path in paths:
        shop.write(path, F)
    one, nobody = shop.service("one"), shop.service(None)
    assert one.record_external_writes(dict.fromkeys(paths)).outcome == "recorded"
    read: list[str] = []
    decode = codec.decode_event

    def counted(kind: str, body: str) -> Event:
        read.append(kind)
        return decode(kind, body)

    monkeypatch.setattr(codec, "decode_event", counted)
    for path in paths:
        shop.write(path, G)
    assert nobody.record_external_changes(paths).outcome == "recorded"
    assert one.record_external_writes(dict.fromkeys(paths, hash_bytes(F.encode()))).outcome == "nothing"
    assert read.count("committed") < len(paths)


# At once.


@pytest.mark.parametrize("is_late", [False, True])
def test_what_two_see_to_at_once_is_recorded_once(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    """A hook is told twice; or it is told just as somebody finds what it is about, the slot being over."""
    one, again, nobody = shop.hand("one"), shop.hand("one"), shop.service(None)
    one.propose({"a.py": F_OTHERWISE})
    one.write()
    shop.clock.advance(SLOT_SECONDS + 1 if is_late else 0)
    look = ExternalWrites.look

    def interrupted(taking: ExternalWrites, made: Made) -> Seen:
        monkeypatch.setattr(ExternalWrites, "look", look)
        if is_late:
            nobody.record_external_changes(["a.py"])
        else:
            again.service.finish_proposal("call")
        return look(taking, made)

    monkeypatch.setattr(ExternalWrites, "look", interrupted)
    one.finish_proposal()
    assert [each.holder for each in commits(nobody)] == ["one"]
    check_chain(shop)
    assert one.service.end_turn().outcome == "nothing"
    assert one.leased() == []


def test_a_call_that_is_asked_about_twice_at_once_leaves_no_slot(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, again = shop.hand("one"), shop.hand("one")
    plan = Planner.plan

    def interrupted(planner: Planner, changeset: Changeset) -> Plan | Rejected:
        monkeypatch.setattr(Planner, "plan", plan)
        again.propose({"a.py": F_OTHERWISE})
        return plan(planner, changeset)

    monkeypatch.setattr(Planner, "plan", interrupted)
    one.edit({"a.py": F_OTHERWISE})
    assert slots(one) == []


def test_what_a_command_wrote_over_what_another_holds_is_told_to_both(shop: Workshop) -> None:
    one, two = shop.service("one"), shop.service("two")
    one.acquire("a.py#g", task="mine")
    before = {"a.py": hash_bytes(SOURCE.encode())}
    shop.write("a.py", G_OTHERWISE)
    back = f"the old text is kept; restore it with `commonhold show {before['a.py'][:16]} --to a.py`"
    taken = two.record_external_writes(before, intent="$ sed -i s/2/20/ a.py")
    assert f'one holds file:a.py#g for "mine", and gets a notice that you overwrote it; {back}' in taken.notices
    (commit,) = commits(two)
    (region,) = (each for each in commit.regions if each.key == "file:a.py#g")
    assert region.before
    assert region.after
    base = region.after[:16]
    way = f"commonhold show {region.before[:16]} | commonhold commit --key 'file:a.py#g' --base {base} --agent one"
    told = (
        "file:a.py#g, which you hold, was overwritten by two ($ sed -i s/2/20/ a.py); "
        f"the old text is kept; restore it with `{way}`"
    )
    assert [each.text for each in one.news()] == [told], "the rest of the file stays as it is by then"
    assert one.news() == ()


def test_what_nobody_is_known_to_have_written_over_is_told_to_who_holds_it(shop: Workshop) -> None:
    one, watcher = shop.service("one"), shop.service(None)
    one.acquire("a.py#g", "c.py#h", task="mine")
    shop.write("a.py", G_OTHERWISE)
    shop.write("c.py", "def h():\n    return 3\n")
    watcher.record_external_changes(["a.py", "c.py"], intent="by a person")
    told = [each.text for each in one.news()]
    assert any(
        "which you hold, was overwritten by a program without a session here (by a person)" in each for each in told
    )


def test_a_session_and_its_subagent_are_no_others_to_each_other(shop: Workshop) -> None:
    one, part = shop.service("one"), shop.service("one/part")
    one.acquire("a.py#g", task="mine")
    before = {"a.py": hash_bytes(SOURCE.encode())}
    shop.write("a.py", G_OTHERWISE)
    assert not any("overwrote" in each for each in part.record_external_writes(before, intent="go on").notices)
    assert not any("overwritten" in each.text for each in one.news())


@pytest.mark.parametrize(("key", "is_told"), [("a.py", True), ("a.py#@header", False), ("a.py#g", False)])
def test_lines_that_are_only_added_are_told_to_who_holds_the_whole_file(
    shop: Workshop, key: str, *, is_told: bool
) -> None:
    """Who holds the header alone is not in the way of one more import, as with edits."""
    shop.write("a.py", f"import os\n{SOURCE}")
    one, two = shop.service("one"), shop.service("two")
    one.acquire(key, task="mine")
    before = {"a.py": hash_bytes(f"import os\n{SOURCE}".encode())}
    shop.write("a.py", f"import os\nimport re\n{SOURCE}")
    taken = two.record_external_writes(before, intent="$ make")
    assert taken.outcome == ("unadmitted" if is_told else "recorded")
    assert any("gets a notice that you overwrote it" in each for each in taken.notices) == is_told
    assert any("was overwritten by two" in each.text for each in one.news()) == is_told
