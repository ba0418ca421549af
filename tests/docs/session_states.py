"""The diagram of docs/sessions.md, drawn from the table; `python -m tests.docs.session_states` writes it."""

import re
from pathlib import Path

from commonhold.kernel.managed_session import SESSION_TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "sessions.md"
BLOCK = re.compile(r"(<!-- begin states -->\n).*?(<!-- end states -->)", re.DOTALL)


def diagram() -> str:
    moves = [f"    {before} --> {after}: {move}" for (before, move), after in SESSION_TRANSITIONS.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> queued", *moves, "```", ""])


def renewed(text: str) -> str:
    return BLOCK.sub(lambda match: match[1] + diagram() + match[2], text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
