"""What a session's own tool is about to write: who may, who may not, and what is left behind of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_tools import SOURCE, Hand, Workshop, commits, workshop

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import CommitRefused
from commonhold.kernel.keys import parse
from commonhold.kernel.options import Options, Release
from commonhold.kernel.policy import Policies, Policy
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.write_slots import SLOT_SECONDS

pytestmark = pytest.mark.slow

F_OTHERWISE = SOURCE.replace("return 1", "return 10")
G_OTHERWISE = SOURCE.replace("return 2", "return 20")
CALLED = "def price(item):\n    return item\n\n\ndef total(items):\n    return sum(price(each) for each in items)\n"
NEEDS_TAX = CALLED.replace("price(item):", "price(item, tax):")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def reads(hand: Hand, *keys: str) -> Hand:
    hand.service.record_read(*(keys or ("a.py",)))
    return hand


def refused_with(hand: Hand, code: Refusal, files: dict[str, str | bytes | None], *blind: str) -> str:
    """Why; nothing may be leased for it, and what was refused is kept."""
    held = hand.leased()
    answer = hand.propose(files, blind=blind)
    assert (answer.outcome, answer.code) == ("refused", code), answer
    assert hand.leased() == held
    refusals = [each.event for each in hand.service.log(after=0) if isinstance(each.event, CommitRefused)]
    assert (refusals[-1].holder, refusals[-1].code) == (hand.service.holder, code)
    for data in files.values():
        if data is not None:
            text = data.encode() if isinstance(data, str) else data
            assert hand.service.content(hash_bytes(text)) == text
    return answer.why


# Admitted.


def test_what_is_admitted_is_leased_for_the_turn_and_the_file_for_the_moment(shop: Workshop) -> None:
    one = shop.hand("one")
    answer = one.propose({"a.py": F_OTHERWISE})
    assert (answer.outcome, answer.is_dry_run, answer.sequence) == ("committed", True, None)
    slot, region = one.service.leases(holder="one")
    assert region.keys == ("file:a.py#f",)
    assert region.task == slot.task == "mend it"
    assert slot.keys[0].startswith("slot:")
    assert shop.text() == SOURCE, "nothing is written here"
    assert commits(one.service) == [], "and nothing is recorded as done"


def test_two_agents_have_two_functions_of_one_file(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    one.edit({"a.py": F_OTHERWISE})
    two.edit({"a.py": F_OTHERWISE.replace("return 2", "return 20")})
    assert shop.text() == F_OTHERWISE.replace("return 2", "return 20")
    assert (one.leased(), two.leased()) == (["file:a.py#f"], ["file:a.py#g"])
    assert [each.holder for each in commits(one.service)] == ["one", "two"]


def test_the_bytes_before_and_after_can_be_had_even_if_nobody_comes_back(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    for text in (SOURCE, F_OTHERWISE):
        assert one.service.content(hash_bytes(text.encode())) == text.encode()


def test_several_files_are_one_proposal(shop: Workshop) -> None:
    shop.write("b.py", "x = 1\n")
    shop.write("gone.py", "y = 1\n")
    one = shop.hand("one")
    taken = one.edit({"a.py": F_OTHERWISE, "b.py": "x = 2\n", "new/c.py": "z = 1\n", "gone.py": None})
    assert taken.outcome == "recorded"
    (commit,) = commits(one.service)
    assert [(each.path, each.before is None, each.after is None) for each in commit.files] == [
        ("a.py", False, False),
        ("b.py", False, False),
        ("gone.py", False, True),
        ("new/c.py", True, False),
    ]


def test_who_holds_a_region_already_need_not_lease_it_again(shop: Workshop) -> None:
    one = shop.hand("one")
    one.edit({"a.py": F_OTHERWISE})
    one.edit({"a.py": F_OTHERWISE.replace("10", "11")}, call="again")
    assert one.leased() == ["file:a.py#f"]


# Who does not know what it writes over.


def test_who_read_an_older_version_is_shown_the_new_one_and_may_then_write(shop: Workshop) -> None:
    one, two = reads(shop.hand("one")), shop.hand("two")
    two.edit({"a.py": F_OTHERWISE}, intent="ten is enough")
    two.service.end_turn()
    answer = one.propose({"a.py": SOURCE.replace("return 1", "return 100")})
    assert answer.code is Refusal.REGION_CHANGED
    assert answer.why == "file:a.py#f changed since this session read it"
    (shown,) = answer.repair.regions
    assert (shown.key, shown.text) == ("file:a.py#f", "def f():\n    return 10\n")
    assert (shown.changed_by, shown.intent) == ("two", "ten is enough")
    assert shown.diff is not None
    assert "-    return 1" in shown.diff
    assert one.propose({"a.py": SOURCE.replace("return 1", "return 100")}).outcome == "committed"


def test_what_others_changed_elsewhere_in_the_file_is_no_matter(shop: Workshop) -> None:
    one, two = reads(shop.hand("one")), shop.hand("two")
    two.edit({"a.py": G_OTHERWISE})
    assert one.edit({"a.py": G_OTHERWISE.replace("return 1", "return 10")}).outcome == "recorded"


def test_a_whole_file_that_was_never_read_is_not_overwritten(shop: Workshop) -> None:
    one = shop.hand("one")
    why = refused_with(one, Refusal.REGION_CHANGED, {"a.py": "x = 1\n"}, "a.py")
    assert "file:a.py#f is there already, and this session has not read it" in why
    assert one.propose({"a.py": "x = 1\n"}, blind=["a.py"]).outcome == "committed", "it was shown, so it knows now"


def test_a_whole_file_of_which_parts_were_read_may_change_in_those(shop: Workshop) -> None:
    one = reads(shop.hand("one"), "a.py#f")
    why = refused_with(one, Refusal.REGION_CHANGED, {"a.py": G_OTHERWISE}, "a.py")
    assert "a.py#f" not in why
    assert one.propose({"a.py": F_OTHERWISE}, blind=["a.py"]).outcome == "committed"


def test_a_swap_need_not_have_read_since_it_names_what_it_replaces(shop: Workshop) -> None:
    assert shop.hand("one").edit({"a.py": F_OTHERWISE}).outcome == "recorded"


def test_what_went_and_came_back_is_what_was_read(shop: Workshop) -> None:
    """Nothing of what the session knows is wrong."""
    one, two = reads(shop.hand("one")), shop.hand("two")
    two.edit({"a.py": F_OTHERWISE}, call="there")
    two.edit({"a.py": SOURCE}, call="back")
    two.service.end_turn()
    assert one.propose({"a.py": SOURCE.replace("return 1", "return 5")}, blind=["a.py"]).outcome == "committed"


def test_a_class_that_was_read_covers_its_methods(shop: Workshop) -> None:
    source = "class C:\n    x = 1\n\n    def m(self):\n        return 1\n\n    def n(self):\n        return 2\n"
    shop.write("c.py", source)
    one, two = reads(shop.hand("one"), "c.py#C"), shop.hand("two")
    two.edit({"c.py": source.replace("return 2", "return 20")})
    two.service.end_turn()
    changed = source.replace("return 2", "return 20")
    assert one.propose({"c.py": changed.replace("return 1", "return 10")}, blind=["c.py"]).outcome == "committed"
    one.service.end_turn()
    answer = one.propose({"c.py": changed.replace("return 20", "return 200")}, call="other", blind=["c.py"])
    assert answer.code is Refusal.REGION_CHANGED


def test_what_a_session_wrote_it_knows(shop: Workshop) -> None:
    one = shop.hand("one")
    one.edit({"new.py": "x = 1\n"})
    one.edit({"new.py": "x = 2\n"}, call="second", blind=["new.py"])
    assert commits(one.service)[-1].unadmitted == ""


def test_what_was_shown_last_counts_not_what_was_shown_once(shop: Workshop) -> None:
    """It thinks of the second version, and the first is there again: what undid the second must not be undone."""
    one, two = reads(shop.hand("one")), shop.hand("two")
    two.edit({"a.py": F_OTHERWISE}, call="there")
    reads(one, "a.py#f")
    two.edit({"a.py": SOURCE}, call="back")
    two.service.end_turn()
    refused_with(one, Refusal.REGION_CHANGED, {"a.py": F_OTHERWISE.replace("10", "100")}, "a.py")


def test_a_file_is_not_deleted_unread(shop: Workshop) -> None:
    one = shop.hand("one")
    refused_with(one, Refusal.REGION_CHANGED, {"a.py": None}, "a.py")
    assert reads(one).propose({"a.py": None}, blind=["a.py"]).outcome == "committed"


def test_a_file_that_changed_between_looking_and_asking_is_shown_anew(shop: Workshop) -> None:
    """A base that is nowhere kept is no error: it is what a formatter leaves behind."""
    one = shop.hand("one")
    changeset = Changeset((Edit(Op.REWRITE, "a.py", base="a" * 64, data=F_OTHERWISE.encode()),), merge=False)
    answer = one.service.propose(changeset, call="call")
    assert answer.code is Refusal.REGION_CHANGED
    assert [each.key for each in answer.repair.regions] == ["file:a.py"]


# What others hold.


def test_what_another_edits_in_its_turn_is_refused_until_the_turn_is_over(shop: Workshop) -> None:
    one, two = shop.hand("one"), reads(shop.hand("two"))
    one.edit({"a.py": F_OTHERWISE}, intent="ten is enough")
    two.service.record_read("a.py")
    refused_with(two, Refusal.LOCK_CONFLICT, {"a.py": SOURCE.replace("return 1", "return 11")})
    answer = two.propose({"a.py": SOURCE.replace("return 1", "return 11")})
    assert [(each.holder, each.held, each.task) for each in answer.conflicts] == [
        ("one", "file:a.py#f", "ten is enough")
    ]
    one.service.end_turn()
    assert two.propose({"a.py": SOURCE.replace("return 1", "return 11")}).outcome == "committed"


def test_a_lease_that_was_asked_for_stands_in_the_way_and_outlasts_the_turn(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.hand("two")
    lease = one.service.acquire("a.py#f").lease
    assert lease is not None
    one.edit({"a.py": F_OTHERWISE})
    one.service.end_turn()
    assert [each.id for each in one.service.leases(holder="one")] == [lease.id]
    refused_with(two, Refusal.LOCK_CONFLICT, {"a.py": SOURCE.replace("return 1", "return 11")})


def test_leases_are_free_once_the_edit_is_done_where_the_project_says_so(tmp_path: Path) -> None:
    with workshop(tmp_path, Options(release=Release.EDIT)) as shop:
        one, two = shop.hand("one"), shop.hand("two")
        one.propose({"a.py": F_OTHERWISE})
        assert "file:a.py#f" in one.leased()
        one.write()
        one.finish_proposal()
        assert one.leased() == []
        assert two.edit({"a.py": F_OTHERWISE.replace("10", "11")}).outcome == "recorded"


def test_a_header_that_only_grows_is_leased_to_nobody(shop: Workshop) -> None:
    shop.write("h.py", "import a\nimport b\n\n\ndef f():\n    return 1\n")
    one, two = shop.hand("one"), shop.hand("two")
    one.propose({"h.py": "import a\nimport b\nimport c\n\n\ndef f():\n    return 1\n"})
    assert [each for each in one.leased() if not each.startswith("slot:")] == []
    one.write()
    one.finish_proposal()
    holding = two.service.acquire("h.py#@header").lease
    assert holding is not None
    assert one.propose({"h.py": "import a\nimport b\nimport c\nimport d\n\n\ndef f():\n    return 1\n"}).code is None


@pytest.mark.parametrize("held", ["h.py", "./"])
def test_a_header_that_only_grows_is_not_written_in_a_file_that_another_holds_whole(shop: Workshop, held: str) -> None:
    shop.write("h.py", "import a\n\n\ndef f():\n    return 1\n")
    one, two = shop.hand("one"), shop.hand("two")
    holding = two.service.acquire(held).lease
    assert holding is not None
    grown = {"h.py": "import a\nimport c\n\n\ndef f():\n    return 1\n"}
    assert one.propose(grown).code is Refusal.LOCK_CONFLICT
    two.service.release(holding.id)
    assert one.propose(grown).code is None


def test_a_header_that_loses_lines_is_leased_for_the_edit_alone(shop: Workshop) -> None:
    shop.write("h.py", "import a\nimport b\n\n\ndef f():\n    return 1\n")
    one = shop.hand("one")
    one.propose({"h.py": "import a\n\n\ndef f():\n    return 10\n"})
    assert [each for each in one.leased() if not each.startswith("slot:")] == ["file:h.py#@header", "file:h.py#f"]
    one.write()
    one.finish_proposal()
    assert one.leased() == ["file:h.py#f"]


def test_a_file_that_another_is_writing_is_not_committed_to(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.service("two")
    one.propose({"a.py": F_OTHERWISE})
    (g,) = two.read("a.py#g")
    changeset = Changeset((Edit(Op.REPLACE, "a.py#g", g.hash, "def g():\n    return 20\n"),))
    answer = two.commit(changeset)
    assert (answer.code, answer.why) == (Refusal.LOCK_CONFLICT, "a.py is being written by one")
    one.write()
    one.finish_proposal()
    assert two.commit(changeset).outcome == "committed"
    assert shop.text() == F_OTHERWISE.replace("return 2", "return 20")


def test_many_regions_are_leased_as_the_file_that_they_are_in(shop: Workshop) -> None:
    many = "\n\n".join(f"def f{n}():\n    return {n}\n" for n in range(60))
    shop.write("many.py", many)
    one = shop.hand("one")
    one.propose({"many.py": many.replace("return", "return 0 +")})
    assert [each for each in one.leased() if not each.startswith("slot:")] == ["file:many.py"]


# What the project protects.


def test_what_is_to_be_held_first_is_held_by_asking(tmp_path: Path) -> None:
    policies = Policies({parse("pay.py").key(): Policy.PESSIMISTIC})
    with workshop(tmp_path, Options(policies=policies)) as shop:
        shop.write("pay.py", "import a\n\n\ndef pay():\n    return 1\n")
        one, two = shop.hand("one"), shop.hand("two")
        one.propose({"pay.py": "import a\nimport b\n\n\ndef pay():\n    return 1\n"})
        assert "file:pay.py#@header" in one.leased(), "even a header that only grows"
        one.write()
        assert one.finish_proposal().outcome == "recorded"
        two.service.acquire("pay.py#pay")
        refused_with(one, Refusal.LOCK_CONFLICT, {"pay.py": "import a\nimport b\n\n\ndef pay():\n    return 2\n"})


# Admission.


def test_what_a_changed_contract_requires_is_leased_and_owed(shop: Workshop) -> None:
    shop.write("c.py", CALLED)
    one = shop.hand("one")
    answer = one.propose({"c.py": NEEDS_TAX})
    assert answer.outcome == "committed"
    assert [each for each in one.leased() if not each.startswith("slot:")] == ["file:c.py#price", "file:c.py#total"]
    assert any("owed by you: file:c.py#total" in each for each in answer.notices)
    one.write()
    assert one.finish_proposal().outcome == "recorded"
    assert [(each.key, each.holder) for each in one.service.status().debts] == [("file:c.py#total", "one")]
    one.edit({"c.py": NEEDS_TAX.replace("price(each)", "price(each, 0)")}, call="mended")
    assert one.service.status().debts == ()


def test_what_is_required_and_held_by_another_refuses(shop: Workshop) -> None:
    shop.write("c.py", CALLED)
    one, two = shop.hand("one"), shop.hand("two")
    two.service.acquire("c.py#total", task="faster sums")
    why = refused_with(one, Refusal.REQUIRE_ADDITIONAL_LOCKS, {"c.py": NEEDS_TAX})
    assert why.endswith("code that it affects is held by two")
    assert [each.holder for each in one.propose({"c.py": NEEDS_TAX}).conflicts] == ["two"]


def test_text_that_does_not_parse_is_refused(shop: Workshop) -> None:
    refused_with(shop.hand("one"), Refusal.PARSE_INVALID, {"a.py": SOURCE.replace("def g():", "def g(:")})


def test_text_that_did_not_parse_before_may_go_on_not_to(shop: Workshop) -> None:
    """Whoever mends a broken file in steps is not kept from it."""
    shop.write("broken.py", "def f(:\n    return 1\n\n\ndef g(:\n    return 2\n")
    assert shop.hand("one").edit({"broken.py": "def f():\n    return 1\n\n\ndef g(:\n    return 2\n"}).code is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\0\1\2", b"\0\1\3"),
        (b"", b"\0"),
        (b"x = 1\r\n", b"x = 2\r\n"),
        (b"\xef\xbb\xbfx = 1\n", b"\xef\xbb\xbfx = 2\n"),
        (b"caf\xe9\n", b"caf\xe9s\n"),
    ],
    ids=["binary", "from empty", "crlf", "bom", "latin-1"],
)
@pytest.mark.parametrize("name", ["data.bin", "notes.txt", "n.py"])
def test_bytes_of_any_kind_are_proposed_and_recorded(shop: Workshop, name: str, before: bytes, after: bytes) -> None:
    shop.write(name, before)
    one = reads(shop.hand("one"), name)
    if name == "n.py" and after[:1] in (b"\0", b"c"):
        assert one.propose({name: after}, blind=[name]).outcome in ("committed", "refused")
        return
    assert one.edit({name: after}, blind=[name]).outcome == "recorded"
    (commit,) = commits(one.service)
    assert one.service.content(commit.files[0].after or "") == after


# The slot.


def test_who_has_lost_its_slot_is_refused(shop: Workshop) -> None:
    one = shop.hand("one")
    slot = one.service.acquire("slot:0:a.py", ttl_seconds=SLOT_SECONDS).lease
    assert slot is not None
    shop.clock.advance(SLOT_SECONDS + 1)
    edit = Edit(Op.REWRITE, "a.py", base=hash_bytes(SOURCE.encode()), data=F_OTHERWISE.encode())
    changeset = Changeset((edit,), leases=(LeaseRef(slot.id, slot.fence),), merge=False)
    answer = one.service.propose(changeset, call="call")
    assert answer.code is Refusal.LEASE_LOST
    assert one.leased() == []


def test_what_cannot_be_is_an_error_and_leaves_no_lease(shop: Workshop) -> None:
    one = shop.hand("one")
    with pytest.raises(InputError) as caught:
        one.propose({"big.txt": "x" * 100_001})
    assert caught.value.code is Code.FILE_TOO_LARGE
    assert [each for each in one.leased() if not each.startswith("slot:")] == []
    assert one.service.finish_proposal("call").outcome == "nothing"


def test_a_proposal_of_the_same_call_takes_the_place_of_the_first(shop: Workshop) -> None:
    one = shop.hand("one")
    one.propose({"a.py": F_OTHERWISE})
    one.propose({"a.py": G_OTHERWISE})
    one.write()
    assert one.finish_proposal().outcome == "recorded"
    assert len(commits(one.service)) == 1
    assert [each for each in one.leased() if each.startswith("slot:")] == []
