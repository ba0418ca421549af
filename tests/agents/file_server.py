"""An MCP server with tools for files, as agents are often given one: `python file_server.py`, over standard streams."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

_TEXT: Final = {"type": "string"}
_EDITS: Final = {"type": "array", "items": {"type": "object", "properties": {"oldText": _TEXT, "newText": _TEXT}}}


def write_file(path: str, content: str) -> str:
    Path(path).write_text(content, encoding="utf-8")
    return f"Successfully wrote to {path}"


def edit_file(path: str, edits: list[Mapping[str, str]]) -> str:
    text = Path(path).read_text(encoding="utf-8")
    for each in edits:
        text = text.replace(each["oldText"], each["newText"], 1)
    Path(path).write_text(text, encoding="utf-8")
    return f"Successfully edited {path}"


_TOOLS: Final[Mapping[str, tuple[Callable[..., str], Mapping[str, Any]]]] = {
    "write_file": (write_file, {"path": _TEXT, "content": _TEXT}),
    "edit_file": (edit_file, {"path": _TEXT, "edits": _EDITS}),
}


def answer(method: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result of one request."""
    if method == "initialize":
        about = {"name": "files", "version": "1"}
        return {"protocolVersion": asked["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        forms = {name: {"type": "object", "properties": fields} for name, (_, fields) in _TOOLS.items()}
        return {"tools": [{"name": name, "description": name, "inputSchema": form} for name, form in forms.items()]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": _TOOLS[asked["name"]][0](**asked["arguments"])}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)  # noqa: T201
