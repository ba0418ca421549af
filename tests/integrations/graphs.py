"""What the tests of LangGraph share: a repository, a model that says what it is told to, and agents made of it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from tests.e2e.cli_driver import git

import commonhold
from commonhold.integrations.langgraph import CommonholdMiddleware

SHOP = "def total(items):\n    return sum(items)\n\n\ndef shipping(weight):\n    return 5\n"
Says = Callable[[Sequence[BaseMessage]], AIMessage]


class Model(BaseChatModel):
    """A model that says what `says` makes of the conversation."""

    says: Says

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "Model":  # noqa: ARG002
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.says(messages))])


def calls(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def in_order(*said: AIMessage) -> Model:
    """Say one after the other, then nothing more."""
    script: Iterator[AIMessage] = iter(said)
    return Model(says=lambda _: next(script, AIMessage("done")).model_copy())


def tools_in(folder: Path) -> list[Any]:
    """Tools that know nothing of others. Those that write say so: it must never come to that."""

    @tool
    def read_file(path: str) -> str:
        """Read."""
        return (folder / path).read_text(encoding="utf-8")

    @tool
    def write_file(path: str, content: str) -> str:
        """Write."""
        (folder / path).write_text(content, encoding="utf-8")
        return "the tool itself has written"

    @tool
    def edit_file(path: str, old_string: str, new_string: str) -> str:  # noqa: ARG001 - it never runs
        """Edit."""
        raise AssertionError

    @tool
    def delete_file(path: str) -> str:  # noqa: ARG001 - as above
        """Delete."""
        raise AssertionError

    return [read_file, write_file, edit_file, delete_file]


def make(folder: Path, **files: str) -> Path:
    """A repository with these files, by name without `.py`."""
    git(folder, "init", "--quiet")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def run(middleware: CommonholdMiddleware, folder: Path, *said: AIMessage, thread: str = "ann") -> list[ToolMessage]:
    """What the tools told an agent that says this."""
    agent = create_agent(in_order(*said), tools_in(folder), middleware=[middleware])
    return told(agent.invoke(asked("mend the\tshop\nquickly"), within(thread)))


def asked(prompt: str) -> Any:
    """What an agent is called with."""
    return {"messages": [HumanMessage(prompt)]}


def within(thread: str) -> Any:
    """The configuration of a thread's run."""
    return {"configurable": {"thread_id": thread}}


def told(state: Any) -> list[ToolMessage]:
    return [each for each in state["messages"] if isinstance(each, ToolMessage)]


def intents(folder: Path) -> list[tuple[str, str]]:
    """Who committed what for, oldest first."""
    with commonhold.open(str(folder)) as hold:
        events = [each.event for each in hold.log()]
    return [(each.holder, each.intent) for each in events if isinstance(each, commonhold.Committed)]
