"""Agents that race on one file lose nothing: every edit that a tool called done is there in the end."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from tests.integrations.graphs import Model, asked, calls, make, told, tools_in, within

from commonhold.integrations.langgraph import CommonholdMiddleware

pytestmark = pytest.mark.slow

MARKS = 4
SHARED = "def one():\n    marks = [\n    ]\n    return marks\n\n\ndef two():\n    marks = [\n    ]\n    return marks\n"


def add_mark(text: str, function: str, mark: str) -> str:
    return re.sub(rf"(def {function}\(\):\n    marks = \[\n)", rf"\1        {mark!r},\n", text)


class Author:
    """Says what a model would: reads, writes the whole file with one more mark, and starts again when refused."""

    def __init__(self, name: str, seed: int) -> None:
        self.wanted = [f"{name}{number}" for number in range(MARKS)]
        self.random = Random(seed)

    def says(self, messages: Sequence[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage) and last.name == "write_file":
            if last.status == "success":
                self.wanted.pop(0)
            return calls("read_file", path="shared.py") if self.wanted else AIMessage("done")
        if isinstance(last, ToolMessage):
            function = self.random.choice(("one", "two"))
            return calls("write_file", path="shared.py", content=add_mark(last.text, function, self.wanted[0]))
        return calls("read_file", path="shared.py")


@pytest.mark.parametrize("seed", range(3))
def test_agents_that_race_lose_nothing(tmp_path: Path, seed: int) -> None:
    make(tmp_path, shared=SHARED)
    middleware = CommonholdMiddleware(str(tmp_path))
    # Made before the threads begin: LangChain hides warnings meanwhile, which threads would undo for one another.
    models = {name: Model(says=Author(name, seed).says) for name in "abc"}
    agents: dict[str, Any] = {
        name: create_agent(model, tools_in(tmp_path), middleware=[middleware]) for name, model in models.items()
    }

    def work(name: str) -> list[ToolMessage]:
        agent = agents[name]
        return told(agent.invoke(asked("mark"), {**within(name), "recursion_limit": 500}))

    with ThreadPoolExecutor(3) as pool:
        answers = [each for found in pool.map(work, "abc") for each in found if each.name == "write_file"]
    middleware.close()
    there = re.findall(r"'(\w+)'", (tmp_path / "shared.py").read_text(encoding="utf-8"))
    assert sorted(there) == sorted(f"{name}{number}" for name in "abc" for number in range(MARKS))
    assert sum(each.status == "success" for each in answers) == 3 * MARKS
