"""The diagram of docs/tasks.md, drawn from the table of transitions; `python -m tests.docs.task_states` writes it."""

import re
from pathlib import Path

from commonhold.kernel.task import TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "tasks.md"
BLOCK = re.compile(r"(<!-- begin states -->\n).*?(<!-- end states -->)", re.DOTALL)


def diagram() -> str:
    moves = [f"    {before} --> {after}: {move.replace('_', ' ')}" for (before, move), after in TRANSITIONS.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> open", *moves, "```", ""])


def renewed(text: str) -> str:
    return BLOCK.sub(lambda match: match[1] + diagram() + match[2], text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
