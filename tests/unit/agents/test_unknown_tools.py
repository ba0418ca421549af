"""What calls of tools that no adapter knows may do: told from their words."""

from typing import Any

import pytest

from commonhold.agents.hook_events import IntendedWrite, Patched, Removed, Somehow, Swap, Whole
from commonhold.agents.unknown_tools import paths_read, wishes_of

pytestmark = pytest.mark.slow

PATH, TEXT = "/r/a.py", "x = 1\n"

WRITING: list[tuple[str, dict[str, Any], list[IntendedWrite]]] = [
    ("mcp__filesystem__write_file", {"path": PATH, "content": TEXT}, [Whole(PATH, TEXT)]),
    ("mcp__s__create_file", {"uri": "file:///r/a%20b.py", "text": TEXT}, [Whole("/r/a b.py", TEXT)]),
    ("files-write_file", {"path": "a.py", "content": TEXT}, [Whole("a.py", TEXT)]),
    ("mcp_files_write_file", {"file_path": PATH, "content": ""}, [Whole(PATH, "")]),
    ("MCP:save_file", {"filename": "a.py", "contents": TEXT}, [Whole("a.py", TEXT)]),
    ("files_createFile", {"path": PATH, "content": TEXT}, [Whole(PATH, TEXT)]),
    (
        "mcp__filesystem__edit_file",
        {"path": PATH, "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": ""}]},
        [Swap(PATH, "a", "b"), Swap(PATH, "c", "")],
    ),
    ("mcp__s__str_replace", {"path": PATH, "old_str": "a", "new_str": "b"}, [Swap(PATH, "a", "b")]),
    ("mcp__filesystem__move_file", {"source": PATH, "destination": "/r/b.py"}, [Patched(PATH, (), "/r/b.py")]),
    ("mcp__s__rename", {"path": PATH, "new_path": "b.py"}, [Patched(PATH, (), "b.py")]),
    ("mcp__s__delete_file", {"path": PATH}, [Removed(PATH)]),
    ("mcp__s__insert_at_line", {"path": PATH, "line": 3, "text": "x"}, [Somehow(PATH)]),
    ("mcp__serena__replace_symbol_body", {"relative_path": "a.py", "name_path": "f", "body": "x"}, [Somehow("a.py")]),
    ("mcp__s__find_and_replace", {"path": PATH, "pattern": "a", "with": "b"}, [Somehow(PATH)]),
    ("mcp__s__edit_file", {"path": PATH, "edits": [{"range": [1, 2], "newText": "b"}]}, [Somehow(PATH)]),
    ("Scribble", {"file": PATH, "text": "x"}, [Somehow(PATH)]),
    (
        "mcp__s__write_files",
        {"files": [{"path": "a.py", "content": TEXT}, {"path": "b.py", "content": ""}]},
        [Whole("a.py", TEXT), Whole("b.py", "")],
    ),
    (
        "mcp__s__multi_edit",
        {"edits": [{"file_path": "a.py", "old_string": "a", "new_string": "b"}, {"file_path": "b.py", "newText": "c"}]},
        [Swap("a.py", "a", "b"), Somehow("b.py")],
    ),
    ("mcp__s__delete_files", {"paths": ["a.py", "b.py"]}, [Removed("a.py"), Removed("b.py")]),
    ("mcp__s__move_files", {"moves": [{"from": "a.py", "to": "b.py"}]}, [Patched("a.py", (), "b.py")]),
]
HARMLESS: list[tuple[str, Any]] = [
    ("mcp__filesystem__read_text_file", {"path": PATH}),
    ("mcp__s__search_files", {"path": PATH, "pattern": "x", "content": "x"}),
    ("mcp__s__get_diagnostics", {"uri": f"file://{PATH}", "text": TEXT}),
    ("mcp__edit-tools__read_file", {"path": PATH}),
    ("edit_tools_read_file", {"path": PATH, "text": "x"}),
    ("mcp__github__create_or_update_file", {"owner": "o", "repo": "r", "path": "a.py", "content": TEXT}),
    ("mcp__s__write_file", {"path": "https://example.org/a.py", "content": TEXT}),
    ("mcp__s__edit_file", {"path": PATH, "edits": [{"oldText": "a", "newText": "b"}], "dryRun": True}),
    ("mcp__s__set_folder", {"path": PATH}),
    ("mcp__commonhold__commit", {"path": PATH, "text": TEXT}),
    ("mcp__slack__post_message", {"channel": "c", "text": "x"}),
    ("mcp__echo__say", {"text": "hi"}),
    ("mcp__s__write_file", {"content": TEXT}),
    ("mcp__s__write_file", {"path": 7, "content": TEXT}),
    ("mcp__s__write_file", {"path": "http://[", "content": TEXT}),
    ("mcp__s__write_file", None),
    ("TodoWrite", {"todos": [{"content": "x"}]}),
    ("mcp__s__read_multiple_files", {"paths": ["a.py"], "files": [{"path": "a.py", "content": TEXT}]}),
    ("mcp__github__push_files", {"owner": "o", "repo": "r", "files": [{"path": "a.py", "content": TEXT}]}),
    ("mcp__s__run_checks", {"paths": ["a.py"], "files": ["b.py", 7]}),
    ("", {}),
]


@pytest.mark.parametrize(("tool", "arguments", "wishes"), WRITING)
def test_a_tool_that_writes_says_so_with_its_words(tool: str, arguments: object, wishes: list[IntendedWrite]) -> None:
    assert list(wishes_of(tool, arguments)) == wishes
    assert paths_read(tool, arguments) == ()


@pytest.mark.parametrize(("tool", "arguments"), HARMLESS)
def test_what_writes_no_file_here_is_let_be(tool: str, arguments: object) -> None:
    assert wishes_of(tool, arguments) == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "paths"),
    [
        ("mcp__filesystem__read_file", {"path": PATH}, (PATH,)),
        ("mcp__filesystem__read_multiple_files", {"paths": [PATH, "file:///r/b.py", 7]}, (PATH, "/r/b.py")),
        ("mcp__filesystem__read_text_file", {"path": PATH, "head": 10}, ()),
        ("mcp__s__get_thing", {"name": "x"}, ()),
        ("mcp__commonhold__read", {"path": PATH}, ()),
        ("mcp__echo__say", {"path": PATH}, ()),
        ("mcp__s__read_file", "text", ()),
    ],
)
def test_what_was_read_is_told(tool: str, arguments: object, paths: tuple[str, ...]) -> None:
    assert paths_read(tool, arguments) == paths
