"""The diagrams of docs/runs.md, drawn from the tables of transitions; `python -m tests.docs.run_states` writes them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commonhold.kernel.run import ITEM_TRANSITIONS, RUN_TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "runs.md"
BLOCK = re.compile(r"(<!-- begin (items|runs) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def diagram(first: str, transitions: Mapping[Any, str]) -> str:
    moves = [f"    {before} --> {after}: {move.replace('_', ' ')}" for (before, move), after in transitions.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {first}", *moves, "```", ""])


DIAGRAMS = {"items": diagram("open", ITEM_TRANSITIONS), "runs": diagram("running", RUN_TRANSITIONS)}


def renewed(text: str) -> str:
    return BLOCK.sub(lambda match: match[1] + DIAGRAMS[match[2]] + match[3], text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
