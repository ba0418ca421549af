"""What a scripted model has each agent do, in the words of that agent's own tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.scripted.conversation import Result, Turn, Use, do

REFUSALS: Final = ("Commonhold", "has been modified since read", "old_string", "oldString", "old_str")
"""Words of which a refused edit's result has one: ours, or the agent's own where it looks before it asks."""


@dataclass(frozen=True, slots=True)
class Acts:
    """The turns of one agent: paths count from the repository's root, which comes first."""

    read: Callable[[str, str], Turn]
    swap: Callable[[str, str, str, str], Turn]
    overwrite: Callable[[str, str, str], Turn]
    run: Callable[[str], Turn]
    delegate: Callable[[str], Turn] | None = None
    glance: Callable[[str, str], Turn] | None = None
    """The turn that reads the first two lines of a file, where the agent has a tool for that."""
    awaits: Callable[[tuple[Result, ...]], Turn] | None = None
    """The turn that waits for a subagent which was begun, where beginning one does not."""


def is_refused(result: Result) -> bool:
    """Whether the model was told that an edit did not happen."""
    return any(word in result.text for word in REFUSALS) and "success" not in result.text.lower()


def _patch(body: str) -> Turn:
    return do("apply_patch", f"*** Begin Patch\n{body}*** End Patch\n")


def _lines(mark: str, text: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.split("\n"))


def _tool(name: str, path: str, *fields: str, **more: Any) -> Callable[..., Turn]:
    """The turn that calls a tool of a path and further fields, in this order."""

    def turn(root: str, file: str, *values: str) -> Turn:
        return do(name, {path: f"{root}/{file}", **dict(zip(fields, values, strict=True)), **more})

    return turn


def _codex_awaits(results: tuple[Result, ...]) -> Turn:
    agent = results[0].text.partition('"agent_id":"')[2].partition('"')[0]
    return Turn((Use("wait_agent", {"targets": [agent], "timeout_ms": 60_000}, "multi_agent_v1"),))


ACTS: Final[Mapping[str, Acts]] = {
    "claude": Acts(
        read=_tool("Read", "file_path"),
        glance=_tool("Read", "file_path", limit=2),
        swap=_tool("Edit", "file_path", "old_string", "new_string"),
        overwrite=_tool("Write", "file_path", "content"),
        run=lambda command: do("Bash", command=command, description="Run it"),
        delegate=lambda prompt: do(
            "Agent", description="Do it", prompt=prompt, subagent_type="general-purpose", run_in_background=False
        ),
    ),
    "codex": Acts(
        read=lambda _root, file: do("exec_command", cmd=f"cat {file}"),
        swap=lambda _root, file, old, new: _patch(f"*** Update File: {file}\n@@\n{_lines('-', old)}{_lines('+', new)}"),
        overwrite=lambda _root, file, content: _patch(f"*** Add File: {file}\n{_lines('+', content.rstrip())}"),
        run=lambda command: do("exec_command", cmd=command),
        delegate=lambda prompt: Turn((Use("spawn_agent", {"message": prompt}, "multi_agent_v1"),)),
        awaits=_codex_awaits,
    ),
    "gemini": Acts(
        read=_tool("read_file", "file_path"),
        glance=_tool("read_file", "file_path", end_line=2),
        swap=_tool("replace", "file_path", "old_string", "new_string", instruction="Change it"),
        overwrite=_tool("write_file", "file_path", "content"),
        run=lambda command: do("run_shell_command", command=command),
        delegate=lambda prompt: do("invoke_agent", agent_name="generalist", prompt=prompt),
    ),
    "opencode": Acts(
        read=_tool("read", "filePath"),
        glance=_tool("read", "filePath", limit=2),
        swap=_tool("edit", "filePath", "oldString", "newString"),
        overwrite=_tool("write", "filePath", "content"),
        run=lambda command: do("bash", command=command, description="Run it"),
        delegate=lambda prompt: do("task", description="Do it", prompt=prompt, subagent_type="general"),
    ),
    "copilot": Acts(
        read=_tool("view", "path"),
        glance=_tool("view", "path", view_range=[1, 2]),
        swap=_tool("edit", "path", "old_str", "new_str"),
        overwrite=_tool("create", "path", "file_text"),
        run=lambda command: do("bash", command=command, description="Run it"),
        delegate=lambda prompt: do(
            "task", name="it", description="Do it", prompt=prompt, agent_type="general-purpose", mode="sync"
        ),
    ),
}
