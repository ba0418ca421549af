"""The middleware: what tools write is judged, what is refused says why, and what is not ours is left alone."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from tests.integrations.graphs import SHOP, asked, calls, in_order, intents, make, run, told, tools_in, within

import commonhold
from commonhold.agents.hook_events import Hunk, Patched
from commonhold.integrations.langgraph import FILE_TOOLS, CommonholdMiddleware, Holds, Role, Writes
from commonhold.kernel.errors import UsageError

pytestmark = pytest.mark.slow

READ = calls("read_file", path="shop.py")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make(tmp_path, shop=SHOP)


@pytest.fixture
def middleware(shop: Path) -> Iterator[CommonholdMiddleware]:
    made = CommonholdMiddleware(str(shop))
    yield made
    made.close()


def swap(old: str, new: str, path: str = "shop.py") -> AIMessage:
    return calls("edit_file", path=path, old_string=old, new_string=new)


def test_an_edit_is_a_commit_of_the_thread_with_its_prompt_as_intent(
    middleware: CommonholdMiddleware, shop: Path
) -> None:
    read, edited = run(middleware, shop, READ, swap("return 5", "return 6"))
    assert (read.text, edited.text) == (SHOP, "committed: shop.py#shipping")
    assert edited.status == "success"
    assert (shop / "shop.py").read_text() == SHOP.replace("return 5", "return 6")
    assert intents(shop) == [("langgraph:ann", "mend the shop quickly")]


def test_whole_files_are_made_replaced_and_removed(middleware: CommonholdMiddleware, shop: Path) -> None:
    made, again, gone = run(
        middleware,
        shop,
        calls("write_file", path="new/one.py", content="a = 1\n"),
        calls("write_file", path=str(shop / "new/one.py"), content="b = 2\n"),
        calls("delete_file", path="new/one.py"),
    )
    assert [each.text.split(":")[0] for each in (made, again, gone)] == ["committed"] * 3
    assert not (shop / "new/one.py").exists()


def test_what_was_not_read_is_not_overwritten_but_shown(middleware: CommonholdMiddleware, shop: Path) -> None:
    blind, knowing = run(
        middleware,
        shop,
        calls("write_file", path="shop.py", content="gone = 1\n"),
        calls("write_file", path="shop.py", content="gone = 1\n"),
    )
    assert blind.status == "error"
    assert "you have not read it" in blind.text
    assert SHOP in blind.text
    assert knowing.status == "success"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (swap("return 7", "x"), "shop.py: the text to replace is not in the file"),
        (swap("return", "x"), "is in the file 2 times"),
        (swap("return 5", "return ("), "[PARSE_INVALID]"),
        (swap("x", "y", "nowhere.py"), "nowhere.py: there is no such file"),
        (calls("edit_file", path="shop.py"), "'old_string'"),
        (calls("write_file", path=".git/config", content=""), "[PATH_RESERVED]"),
        (calls("write_file", path="a\0b", content=""), "refused"),
    ],
)
def test_what_cannot_be_done_is_an_error_of_the_tool_that_says_what_to_do(
    middleware: CommonholdMiddleware, shop: Path, said: AIMessage, why: str
) -> None:
    *_, answer = run(middleware, shop, READ, said)
    assert answer.status == "error"
    assert why in answer.text
    assert "Next: " in answer.text
    assert (shop / "shop.py").read_text() == SHOP


def test_two_threads_that_edit_two_functions_are_both_heard(middleware: CommonholdMiddleware, shop: Path) -> None:
    run(middleware, shop, READ, thread="ben")
    run(middleware, shop, READ, swap("sum(items)", "max(items)"))
    (answer,) = run(middleware, shop, calls("write_file", path="shop.py", content=SHOP.replace("5", "6")), thread="ben")
    assert answer.status == "success"
    assert "+    return max(items)" in answer.text, "it is told what the file holds beside"
    assert (shop / "shop.py").read_text() == SHOP.replace("5", "6").replace("sum", "max")


def test_a_change_of_what_was_only_told_of_is_refused_with_what_is_there(
    middleware: CommonholdMiddleware, shop: Path
) -> None:
    mine = SHOP.replace("5", "6")
    run(middleware, shop, READ, thread="ben")
    run(middleware, shop, READ, swap("sum(items)", "max(items)"))
    run(middleware, shop, calls("write_file", path="shop.py", content=mine), thread="ben")
    other = calls("write_file", path="shop.py", content=mine.replace("sum", "min"))
    refused, again = run(middleware, shop, other, other, thread="ben")
    assert refused.status == "error"
    assert re.search(r'changed by langgraph:ann, .*: "mend the shop quickly', refused.text)
    assert mine.replace("sum", "max") in refused.text
    assert again.status == "success", "it was shown the text, and may decide against it"


def test_a_held_region_is_refused_with_who_holds_it_what_for(middleware: CommonholdMiddleware, shop: Path) -> None:
    with commonhold.open(str(shop), agent="ben") as ben:
        ben.acquire("shop.py#shipping", task="weigh it")
        _, refused, free = run(middleware, shop, READ, swap("return 5", "return 6"), swap("sum", "max"))
    assert refused.status == "error"
    assert 'ben holds file:shop.py#shipping: "weigh it"' in refused.text
    assert free.status == "success", "the other function is free"


def test_files_outside_and_other_tools_are_left_alone(
    middleware: CommonholdMiddleware, shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "notes.py"
    (answer,) = run(middleware, shop, calls("write_file", path=str(outside), content="a = 1\n"))
    assert answer.text == "the tool itself has written"
    assert outside.read_text() == "a = 1\n"
    (shop / ".commonholdignore").write_text("*.log\n", encoding="utf-8")
    (answer,) = run(middleware, shop, calls("write_file", path="a.log", content="1"))
    assert answer.text == "the tool itself has written"
    assert intents(shop) == []


def test_a_tool_that_patches_and_moves_is_described_by_its_wishes(shop: Path) -> None:
    hunk = Hunk(("    return 5",), ("    return 6",))
    table: dict[str, Role] = {
        "read_file": FILE_TOOLS["read_file"],
        "write_file": Writes(lambda given: [Patched(given["path"], (hunk,), given["content"])]),
    }
    middleware = CommonholdMiddleware(str(shop), table)
    move = calls("write_file", path="shop.py", content="lib/shop.py")
    astray = calls("write_file", path="shop.py", content="../shop.py")
    outside, moved = run(middleware, shop, astray, READ, move)[0::2]
    middleware.close()
    assert outside.status == "error"
    assert moved.text.startswith("committed")
    assert (shop / "lib/shop.py").read_text() == SHOP.replace("5", "6")
    assert not (shop / "shop.py").exists()


def test_it_is_the_same_for_asyncio(middleware: CommonholdMiddleware, shop: Path) -> None:
    agent = create_agent(in_order(READ, swap("return 5", "return 6")), tools_in(shop), middleware=[middleware])
    state = asyncio.run(agent.ainvoke(asked("go"), within("ann")))
    assert [each.text for each in told(state)] == [SHOP, "committed: shop.py#shipping"]


def test_a_subagent_is_another_holder_and_so_is_each_run_without_a_thread(
    middleware: CommonholdMiddleware, shop: Path
) -> None:
    inner = create_agent(in_order(READ, swap("return 5", "return 6")), tools_in(shop), middleware=[middleware])

    @tool
    def delegate(task: str) -> str:
        """Let another do it."""
        return str(inner.invoke(asked(task))["messages"][-1].text)

    outer = create_agent(
        in_order(calls("delegate", task="weigh"), READ, swap("sum", "max")),
        [*tools_in(shop), delegate],
        middleware=[middleware],
    )
    outer.invoke(asked("all"), within("t1"))
    (sub, weigh), (top, _) = intents(shop)
    assert weigh == "weigh"
    assert top == "langgraph:t1"
    assert sub.startswith("langgraph:t1/tools:")
    alone = create_agent(in_order(READ, swap("max", "min")), tools_in(shop), middleware=[middleware])
    alone.invoke(asked("alone"))
    (*_, (holder, _)) = intents(shop)
    assert holder not in (sub, top)


def test_a_raw_graph_uses_it_through_its_tool_node(middleware: CommonholdMiddleware, shop: Path) -> None:
    node = ToolNode(tools_in(shop), wrap_tool_call=middleware.wrap_tool_call)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    made = calls("write_file", path="one.py", content="a = 1\n")
    state = graph.invoke({"messages": [made]}, within("raw"))
    assert told(state)[0].text == "committed: one.py"
    with pytest.raises(UsageError, match="thread_id"):
        graph.invoke({"messages": [made]})


@pytest.fixture
def accounts(shop: Path) -> Iterator[tuple[CommonholdMiddleware, list[Any]]]:
    made = CommonholdMiddleware(str(shop), {"pay": Holds(lambda given: [f"account:{given['account']}"])})

    @tool
    def pay(account: str) -> str:  # noqa: ARG001 - the middleware reads it
        """Pay, and tell who holds the account meanwhile."""
        with commonhold.open(str(shop)) as hold:
            return str([(lease.holder, lease.keys) for lease in hold.leases()])

    yield made, [pay]
    made.close()


@pytest.mark.parametrize("way", ["threads", "asyncio"])
def test_a_key_is_held_while_its_tool_runs(
    accounts: tuple[CommonholdMiddleware, list[Any]], shop: Path, way: str
) -> None:
    middleware, tools = accounts
    agent = create_agent(
        in_order(calls("pay", account="1"), calls("pay", account="1"), calls("pay", account="")),
        tools,
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )

    def ask() -> Any:
        told_it, config = asked("pay"), within("t")
        return asyncio.run(agent.ainvoke(told_it, config)) if way == "asyncio" else agent.invoke(told_it, config)

    with commonhold.open(str(shop), agent="ben") as ben:
        (before, *_) = told(ask())
        lease = ben.acquire("account:1", task="audit").lease
        assert lease is not None, "it was let go of"
    assert before.text == "[('langgraph:t', ('account:1',))]"


def test_a_key_that_another_holds_refuses_its_tool(
    accounts: tuple[CommonholdMiddleware, list[Any]], shop: Path
) -> None:
    middleware, tools = accounts
    agent = create_agent(in_order(calls("pay", account="1"), calls("pay", account="")), tools, middleware=[middleware])
    with commonhold.open(str(shop), agent="ben") as ben:
        ben.acquire("account:1", task="audit")
        held, bad = told(agent.invoke(asked("pay")))
    assert "[LEASE_DENIED]: ben holds" in held.text
    assert "[KEY_INVALID]" in bad.text
    assert {held.status, bad.status} == {"error"}


def test_a_lease_that_is_broken_while_its_tool_runs_is_told(shop: Path) -> None:
    @tool
    def pay(account: str) -> str:
        """Lose the lease in the middle."""
        with commonhold.open(str(shop), agent="boss") as boss:
            (lease,) = boss.leases()
            boss.break_lease(lease.id, reason="stop")
        return f"paid from {account}"

    middleware = CommonholdMiddleware(
        str(shop), {**FILE_TOOLS, "pay": Holds(lambda given: [f"account:{given['account']}"])}
    )
    agent = create_agent(in_order(calls("pay", account="1")), [pay], middleware=[middleware])
    (answer,) = told(agent.invoke(asked("pay")))
    middleware.close()
    assert answer.status == "error"
    assert "it has run" in answer.text
    assert "[LEASE_LOST]" in answer.text
