"""Two LangChain agents edit one file, each from the text that it read, and neither loses what the other wrote.

Run it with `python examples/langgraph_agents.py`, after `pip install 'commonhold[langgraph]'`. The models are scripted,
so it needs no network and no key: put a real one in place of `Scripted`, and the agents are real.
"""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from commonhold.integrations.langgraph import CommonholdMiddleware

SHOP = """def total(items):
    return sum(items)


def shipping(weight):
    return 5
"""


class Scripted(BaseChatModel):
    """A model that says what it is told to, in order."""

    says: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Scripted":
        """Know of the tools already."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = sum(isinstance(message, AIMessage) for message in messages)
        return ChatResult(generations=[ChatGeneration(message=self.says[said].model_copy())])


def calls(name: str, **arguments: str) -> AIMessage:
    """What a model says that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def tools_in(folder: Path) -> list[Any]:
    """Tools as agents have them: they know nothing of other agents."""

    @tool
    def read_file(path: str) -> str:
        """Read a file."""
        return (folder / path).read_text()

    @tool
    def write_file(path: str, content: str) -> str:
        """Write a file."""
        (folder / path).write_text(content)
        return "written"

    return [read_file, write_file]


def main() -> None:
    """Let both work, and show what came of it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        (folder / "shop.py").write_text(SHOP)
        play(folder)


def play(folder: Path) -> None:
    """Ann and Ben both read the file; then each writes it whole, with one thing changed."""
    look = calls("read_file", path="shop.py")
    with_tax = calls("write_file", path="shop.py", content=SHOP.replace("sum(items)", "sum(items) * 1.2"))
    by_weight = calls("write_file", path="shop.py", content=SHOP.replace("return 5", "return 2 * weight"))
    other_tax = calls("write_file", path="shop.py", content=SHOP.replace("sum(items)", "sum(items) * 1.1"))
    done = AIMessage("done")

    together = CommonholdMiddleware(str(folder), daemon=False)  # all that is added to an agent
    says = {"ann": [look, done, with_tax, done], "ben": [look, done, by_weight, done, other_tax, done]}
    agents = {
        name: create_agent(
            Scripted(says=script), tools_in(folder), middleware=[together], checkpointer=InMemorySaver(), name=name
        )
        for name, script in says.items()
    }
    turns = (
        ("ann", "look at shop.py"),
        ("ben", "look at shop.py"),
        ("ann", "add the tax to the total"),
        ("ben", "charge shipping by weight"),
        ("ben", "add a tax of 10 %"),
    )
    for name, prompt in turns:
        asked = HumanMessage(prompt)
        messages = agents[name].invoke({"messages": [asked]}, {"configurable": {"thread_id": name}})["messages"]
        print(f"--- {name}, asked to {prompt}:\n{messages[-2].text}")
    print(f"--- shop.py in the end:\n{(folder / 'shop.py').read_text()}", end="")
    together.close()


if __name__ == "__main__":
    main()
