"""The request that an agent got: others see it as the intent of its writes."""

from typing import Any

from langchain_core.messages import HumanMessage

from commonhold.kernel.texts import MAX_TEXT_LENGTH


def asked(state: Any) -> str:  # noqa: ANN401 - a graph's state may be of any class
    """Return the last message of a person, in one line; empty if there is none."""
    messages = state.get("messages", ()) if isinstance(state, dict) else getattr(state, "messages", state)
    said = (message.text for message in reversed(messages) if isinstance(message, HumanMessage))
    return one_line(next(said, ""))


def one_line(text: str) -> str:
    """Return the text as others may read it: one line, printable, and not too long."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(line.split())[:MAX_TEXT_LENGTH]
