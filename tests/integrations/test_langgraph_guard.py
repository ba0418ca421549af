"""The guard node: granted, denied with whom to wait for, or in line over an interrupt; and a commit node done once."""

import asyncio
from collections.abc import Iterator
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import BaseModel
from tests.integrations.graphs import SHOP, intents, make, within

import commonhold
from commonhold import Changeset, Edit, Op
from commonhold.integrations.langgraph import COMMIT_RETRY, GIVE_UP, Committing, Guard, Guarded
from commonhold.kernel.errors import Code, StoreError, UsageError

pytestmark = pytest.mark.slow

KEYS = ["shop.py#shipping"]


class State(Guarded):
    keys: list[str]
    trace: Annotated[list[str], add]
    commit: dict[str, Any]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make(tmp_path, shop=SHOP)


@pytest.fixture
def ben(shop: Path) -> Iterator[commonhold.Commonhold]:
    with commonhold.open(str(shop), agent="ben") as hold:
        yield hold


def asking() -> Any:
    return {"keys": KEYS}


def guard_of(shop: Path, **more: Any) -> Guard:
    return Guard(lambda state: state["keys"], lambda _: "weigh it", str(shop), **more)


def guarded(guard: Guard, saver: Any = None) -> Any:
    """A graph that writes between its guard's nodes, or goes elsewhere."""

    def write(state: State) -> Any:
        return {"trace": [f"held by {state['guard']['lease']['holder']}"]}

    graph = StateGraph(State)
    graph.add_node("guard", guard.acquire).add_node("write", write).add_node("release", guard.release)
    graph.add_node("elsewhere", lambda _: {"trace": ["elsewhere"]})
    graph.add_edge(START, "guard").add_edge("write", "release").add_edge("release", END).add_edge("elsewhere", END)
    graph.add_conditional_edges("guard", guard.outcome, {"granted": "write", "denied": "elsewhere"})
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize("way", ["threads", "asyncio"])
def test_who_is_granted_goes_on_and_lets_go(shop: Path, ben: commonhold.Commonhold, way: str) -> None:
    graph, asked = guarded(guard := guard_of(shop)), asking()
    state = asyncio.run(graph.ainvoke(asked, within("t"))) if way == "asyncio" else graph.invoke(asked, within("t"))
    guard.close()
    assert state == {"keys": KEYS, "trace": ["held by langgraph:t"], "guard": {}}
    assert ben.leases() == ()


def test_who_is_denied_goes_elsewhere_and_knows_whom_to_wait_for(shop: Path, ben: commonhold.Commonhold) -> None:
    ben.acquire(*KEYS, task="paint it")
    state = guarded(guard := guard_of(shop)).invoke(asking(), within("t"))
    guard.close()
    (conflict,) = state["guard"]["conflicts"]
    assert state["trace"] == ["elsewhere"]
    assert (state["guard"]["outcome"], conflict["holder"], conflict["task"]) == ("denied", "ben", "paint it")
    assert state["guard"]["next"]["call"] == "acquire"


def test_who_stands_in_line_keeps_its_place_over_interrupts_and_processes(
    shop: Path, ben: commonhold.Commonhold
) -> None:
    lease = ben.acquire(*KEYS, task="paint it").lease
    assert lease is not None
    saver, first, second = InMemorySaver(), guard_of(shop, patience_seconds=60), guard_of(shop, patience_seconds=60)
    (interrupt,) = guarded(first, saver).invoke(asking(), within("t"))["__interrupt__"]
    assert (interrupt.value["outcome"], interrupt.value["position"]) == ("queued", 1)
    with commonhold.open(str(shop), agent="eve") as eve:
        eve.acquire(*KEYS, task="late", patience_seconds=60, ticket="lease-eve")
        for _ in range(2):
            (again,) = guarded(second, saver).invoke(Command(resume="look"), within("t"))["__interrupt__"]
            assert again.value["position"] == 1
        ben.release(lease.id)
        state = guarded(second, saver).invoke(Command(resume="look"), within("t"))
        assert state["trace"] == ["held by langgraph:t"]
        assert eve.acquire(*KEYS, patience_seconds=60, ticket="lease-eve").outcome == "granted"
    first.close()
    second.close()


def test_who_gives_up_leaves_the_line(shop: Path, ben: commonhold.Commonhold) -> None:
    ben.acquire(*KEYS, task="paint it")
    graph = guarded(guard := guard_of(shop, patience_seconds=60), InMemorySaver())
    graph.invoke(asking(), within("t"))
    assert ben.status().waiters != ()
    assert graph.invoke(Command(resume=GIVE_UP), within("t"))["trace"] == ["elsewhere"]
    assert ben.status().waiters == ()
    guard.close()


def test_a_subgraph_does_not_hold_what_its_graph_holds(shop: Path) -> None:
    outer, inner = guard_of(shop), guard_of(shop)
    graph = StateGraph(State).add_node("guard", outer.acquire).add_node("part", guarded(inner))
    graph.add_edge(START, "guard").add_edge("guard", "part").add_edge("part", END)
    state: Any = graph.compile().invoke(asking(), within("t"))
    outer.close()
    inner.close()
    assert state["trace"] == ["elsewhere"]
    assert state["guard"]["conflicts"][0]["holder"] == "langgraph:t"


def test_a_run_that_nobody_can_name_is_misuse(shop: Path) -> None:
    with pytest.raises(UsageError, match="thread_id"):
        guarded(guard_of(shop)).invoke({"keys": KEYS})
    with pytest.raises(RuntimeError, match="outside"):
        guard_of(shop).acquire({"keys": KEYS})
    named = guard_of(shop, holder=lambda _: "ann")
    assert guarded(named).invoke({"keys": KEYS})["trace"] == ["held by ann"]
    named.close()


def weighed(shop: Path) -> Changeset:
    with commonhold.open(str(shop)) as hold:
        (region,) = hold.read(*KEYS)
    text = (region.text or "").replace("5", "2 * weight")
    return Changeset((Edit(Op.REPLACE, KEYS[0], base=region.hash, text=text),), "by weight")


def test_a_commit_node_writes_under_the_lease_of_the_guard(shop: Path) -> None:
    guard, committing = guard_of(shop), Committing(lambda _: weighed(shop), str(shop))
    graph = StateGraph(State).add_node("guard", guard.acquire).add_node("release", guard.release)
    graph.add_node("commit", committing.commit, retry_policy=COMMIT_RETRY)
    graph.add_edge(START, "guard").add_edge("guard", "commit").add_edge("commit", "release")
    state: Any = graph.compile().invoke(asking(), within("t"))
    with commonhold.open(str(shop)) as hold:
        (event,) = [each.event for each in hold.log() if isinstance(each.event, commonhold.Committed)]
    assert (state["commit"]["outcome"], event.holder, len(event.leases)) == ("committed", "langgraph:t", 1)
    guard.close()
    committing.close()


class Plain(BaseModel):
    """A state that is no mapping."""

    commit: dict[str, Any] = {}
    crashed: Literal["yes", "no"] = "no"


def test_a_commit_whose_answer_was_lost_is_repeated_and_done_once(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = weighed(shop)
    committing = Committing(lambda _: wanted, str(shop))
    commit, failures = commonhold.Commonhold.commit, iter([1])

    def losing(self: commonhold.Commonhold, changeset: Changeset) -> Any:
        answer = commit(self, changeset)
        if next(failures, None):
            raise StoreError(Code.STORE_BUSY, "the answer was lost", hint="ask again", retry_after_seconds=0.0)
        return answer

    monkeypatch.setattr(commonhold.Commonhold, "commit", losing)
    graph = StateGraph(Plain).add_node("commit", committing.commit, retry_policy=COMMIT_RETRY).add_edge(START, "commit")
    state: Any = graph.compile().invoke(Plain(), within("t"))
    committing.close()
    assert state["commit"]["outcome"] == "committed"
    assert intents(shop) == [("langgraph:t", "by weight")]


def test_a_refused_commit_is_an_answer(shop: Path) -> None:
    wanted = weighed(shop)
    (shop / "shop.py").write_text(SHOP.replace("5", "7"), encoding="utf-8")
    committing = Committing(lambda _: wanted, str(shop))
    graph = StateGraph(State).add_node("commit", committing.commit, retry_policy=COMMIT_RETRY).add_edge(START, "commit")
    state: Any = graph.compile().invoke(asking(), within("t"))
    committing.close()
    assert (state["commit"]["outcome"], state["commit"]["code"]) == ("refused", "REGION_CHANGED")
