"""Claim files as people, scripts and we write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.tasks.claim_files import (
    MOST_BYTES,
    MOST_TTL_SECONDS,
    TTL_SECONDS,
    File,
    Lock,
    board,
    is_name,
    lock,
    lock_path,
    lock_text,
    task,
)

LINES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40).map(lambda text: " ".join(text.split()))


@given(
    st.builds(
        Lock,
        task=st.just("fix"),
        object_id=st.just("a1"),
        agent=LINES,
        claimed=LINES,
        claim=LINES,
        fence=st.integers(0, 10**14),
        ttl_seconds=st.integers(1, int(MOST_TTL_SECONDS)).map(float),
        heartbeat=st.integers(0, 10**9),
    )
)
def test_a_lock_of_ours_is_read_as_it_was_written(held: Lock) -> None:
    assert lock("fix", File("a1", lock_text(held))) == held


PATHS = [
    f"{folder}/t{ending}"
    for folder in ("tasks/pending", "tasks/done", "current_tasks", "x", "tasks/pending/deep")
    for ending in (".yml", ".yaml", ".lock", ".fence", "")
]
FILES = st.binary(max_size=60).map(lambda content: File("a1", content))


@given(st.dictionaries(st.sampled_from(PATHS), FILES))
def test_any_bytes_in_any_of_the_files_make_a_board(files: dict[str, File]) -> None:
    read = board("c1", 3, files)

    assert ("t" in read.locks) == ("current_tasks/t.lock" in files)
    assert ("t" in read.done) == bool({"tasks/done/t.yml", "tasks/done/t.yaml"} & {*files})
    assert all(0 < each.ttl_seconds <= MOST_TTL_SECONDS for each in read.locks.values())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"claimed by me, hands off\n",
        b"agent: me\nclaimed: now\ntask: fix\n",
        b"\xff\xfe\x00",
        b"ttl_seconds: nan\n",
    ],
)
def test_a_lock_that_a_script_wrote_is_a_claim_whatever_is_in_it(content: bytes) -> None:
    held = board("c1", 1, {lock_path("fix"): File("a1", content)}).locks["fix"]

    assert (held.claim, held.fence, held.ttl_seconds) == ("", 0, TTL_SECONDS)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[", "not valid YAML"),
        (b"- a\n", "not a YAML mapping"),
        (b"needs: {a: b}\n", "`needs` is not a list"),
        (b"needs: [../x]\n", "`needs` is not a list"),
        (b"needs: [1]\n", "`needs` is not a list"),
        (b"priority: high\n", "`priority` is not a number"),
        (b"priority: .nan\n", "`priority` is not a number"),
        (b"priority: true\n", "`priority` is not a number"),
        (b"a: [x]\n" * MOST_BYTES, "not a YAML mapping of at most"),
        (b"[" * 10_000, "not valid YAML"),
    ],
)
def test_a_task_that_cannot_be_understood_says_why(content: bytes, problem: str) -> None:
    assert problem in task("fix", content).problem


def test_a_task_file_may_leave_out_everything() -> None:
    assert task("fix", b"").problem == ""
    assert task("fix", b"needs: other\n").needs == ("other",)
    assert task("fix", b"task: From a script\n").title == "From a script"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-x", "a b", "a\n", "x" * 101, "a.lock", "ü", "a\0"])
def test_what_could_leave_the_folder_or_break_a_line_is_no_name(name: str) -> None:
    assert not is_name(name)
