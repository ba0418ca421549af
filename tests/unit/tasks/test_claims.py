"""Deciding about claims."""

from commonhold.kernel.clock import Now
from commonhold.tasks import claims
from commonhold.tasks.claim_files import Board, File, board
from commonhold.tasks.claims import Claimant, Edit, State

BY = Claimant("alice", "claim-1", 60.0, "2026-01-01T00:00:00Z")


def at(ticks: float, epoch: str = "boot") -> Now:
    return Now(epoch, ticks, 0.0)


def made(generation: int = 0, /, **files: str) -> Board:
    """A board of files; `__` in a name stands for a slash, `_dot_` for a dot."""
    paths = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    return board("c1", generation, {path: File(f"id of {text}", text.encode()) for path, text in paths.items()})


def pending(**needs: str) -> dict[str, str]:
    return {f"tasks__pending__{name}_dot_yml": f"needs: [{needed}]" for name, needed in needs.items()}


def states(of: Board, ticks: float = 0) -> dict[str, str]:
    sightings = claims.sighted({}, of, at(0))
    return {each.task.name: f"{each.state} {each.why}".strip() for each in claims.standings(of, sightings, at(ticks))}


def test_a_task_waits_for_all_that_it_needs() -> None:
    files = pending(a="", b="a", c="a, b", d="nowhere") | {"tasks__done__a_dot_yml": ""}

    assert states(made(**files)) == {
        "a": "done",
        "b": "ready",
        "c": "blocked needs b",
        "d": "blocked needs nowhere (there is no task nowhere)",
    }


def test_a_cycle_is_shown_and_what_leads_into_it_waits() -> None:
    found = states(made(**pending(a="b", b="c", c="a", d="a", e="e")))

    assert found["a"] == found["b"] == found["c"] == "blocked its needs form a cycle: a → b → c → a"
    assert found["d"] == "blocked needs a"
    assert found["e"] == "blocked its needs form a cycle: e → e"


def test_a_very_long_chain_of_needs_is_followed() -> None:
    chain = {f"t{number}": f"t{number + 1}" for number in range(3_000)}

    assert states(made(**pending(**chain, t3000="")))["t3000"] == "ready"


def test_a_lock_is_stale_only_after_this_clone_saw_it_unchanged_for_its_whole_time_to_live() -> None:
    held = made(current_tasks__a_dot_lock="agent: bob\nttl_seconds: 60\nclaimed: 1970-01-01\n")

    assert states(held, 59.9) == {"a": "held claimed by bob"}
    assert states(held, 60) == {"a": "stale claimed by bob"}


def test_a_heartbeat_and_a_reboot_begin_the_count_anew() -> None:
    held = made(current_tasks__a_dot_lock="ttl_seconds: 60")
    beaten = made(current_tasks__a_dot_lock="ttl_seconds: 60\nheartbeat: 1")
    seen = claims.sighted({}, held, at(0))

    assert claims.sighted(seen, held, at(50))["a"].ticks == 0
    assert claims.sighted(seen, beaten, at(50))["a"].ticks == 50
    assert claims.sighted(seen, held, at(5, "next boot"))["a"].ticks == 5
    assert claims.sighted(seen, made(), at(50)) == {}


def test_ready_comes_before_stale_and_then_the_higher_priority() -> None:
    files = {
        "tasks__pending__low_dot_yml": "priority: 1",
        "tasks__pending__high_dot_yml": "priority: 2",
        "tasks__pending__stale_dot_yml": "priority: 3",
        "current_tasks__stale_dot_lock": "ttl_seconds: 1",
    }
    found = made(**files)
    listed = claims.standings(found, claims.sighted({}, found, at(0)), at(9))
    chosen = claims.next_task(listed, "alice")

    assert chosen is not None
    assert chosen.task.name == "high"
    assert claims.next_task([each for each in listed if each.state is State.STALE], "alice") == listed[-1]


def test_agents_that_come_together_begin_with_different_tasks() -> None:
    found = made(**pending(**{f"t{number}": "" for number in range(8)}))
    listed = claims.standings(found, {}, at(0))
    chosen = {each.task.name for agent in "abcdefgh" if (each := claims.next_task(listed, agent))}

    assert len(chosen) > 3


def test_fences_only_rise_whatever_a_script_deletes() -> None:
    after_release = made(current_tasks__a_dot_fence="fence: 70", **pending(a=""))
    with_lock_deleted = made(90, **pending(a=""))
    stale = made(5, current_tasks__a_dot_lock="fence: 80\nttl_seconds: 1", **pending(a=""))

    assert _claimed(after_release).lock.fence == 71
    assert _claimed(with_lock_deleted).lock.fence == 91
    assert _claimed(stale).lock.fence == 81
    assert _claimed(stale).action == "takeover"


def test_only_the_claim_itself_can_be_kept_or_ended() -> None:
    edit = _claimed(made(**pending(a="")))
    files = {path: File("new", content) for path, content in edit.files.items() if content is not None}
    held = board("c2", 1, files | {"tasks/pending/a.yaml": File("t", b"title: A\n")})

    assert claims.beat(held, "a", "claim-2") is None
    assert claims.release(held, "a", "claim-2") is None
    assert claims.complete(held, "a", "claim-2") is None
    done = claims.complete(held, "a", "claim-1")
    assert done is not None
    assert done.files == {
        "current_tasks/a.lock": None,
        "current_tasks/a.fence": b"fence: 1\n",
        "tasks/pending/a.yaml": None,
        "tasks/done/a.yml": b"title: A\n",
    }


def _claimed(of: Board) -> Edit:
    sightings = claims.sighted({}, of, at(0))
    standing = claims.next_task(claims.standings(of, sightings, at(9)), "alice")
    assert standing is not None
    return claims.claim(of, standing, BY)
