"""The diagram of docs/landing.md, drawn from its table; `python -m tests.docs.entry_states` writes it."""

import re
from pathlib import Path

from tests.docs.run_states import diagram

from commonhold.kernel.entry import ENTRY_TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "landing.md"
BLOCK = re.compile(r"(<!-- begin entries -->\n).*?(<!-- end entries -->)", re.DOTALL)


def renewed(text: str) -> str:
    return BLOCK.sub(lambda match: match[1] + diagram("queued", ENTRY_TRANSITIONS) + match[2], text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
