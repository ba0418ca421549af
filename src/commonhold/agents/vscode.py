"""VS Code, according to its documentation."""

from functools import partial
from typing import Final

from commonhold.agents import claude_shaped
from commonhold.agents.agent import Agent
from commonhold.agents.claude_shaped import Dialect
from commonhold.agents.hook_events import Ends, Manner
from commonhold.agents.tools import Reads, Runs, Tools, cell, opaque, patch, swap, swaps, whole

NAME: Final = "vscode"
_PATH, _OLD, _NEW = ("filePath",), ("oldString",), ("newString",)
_SWAPPING: Final = Manner(ends=Ends.SPOKEN)
_UNSAID: Final = (
    "the tool describes the change in words, and another model writes the text; use a tool that gives the text"
)
_TOOLS: Final[Tools] = {
    "create_file": whole(_PATH, ("content",)),
    "replace_string_in_file": swap(_PATH, _OLD, _NEW, manner=_SWAPPING),
    "multi_replace_string_in_file": swaps("replacements", _PATH, _OLD, _NEW, manner=_SWAPPING),
    "apply_patch": patch(("input", "patch", ""), Manner(ends=Ends.FIRST, keeps_context=True, reindents=True)),
    "edit_notebook_file": cell(_PATH, ("cellId",), ("newCode",), ("editType",), ("language",)),
    "insert_edit_into_file": opaque(_UNSAID),
    "editFiles": opaque(_UNSAID),
    "run_in_terminal": Runs(),
    "read_file": Reads(_PATH),
}
_DIALECT: Final = Dialect(NAME, _TOOLS)

read = partial(claude_shaped.read, _DIALECT)
write = claude_shaped.write
VSCODE: Final = Agent(NAME, "VS Code", read, write, claude_shaped.refuse)
