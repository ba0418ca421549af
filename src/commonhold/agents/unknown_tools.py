"""Tools that no adapter knows, such as those of MCP servers: guess the effects of a call from its arguments.

A tool that writes files names a path, and mostly the content to write. A tool that only reads is let through, and
reported as a read; writes elsewhere (a repository on a server, a bucket) do not concern us.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from commonhold.agents.hook_events import IntendedWrite, Patched, Removed, Somehow, Swap, Whole
from commonhold.agents.payloads import text

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PATHS: Final = (
    *("path", "file_path", "filePath", "filepath", "file", "filename", "file_name", "fileName", "relative_path"),
    *("relativePath", "absolute_path", "absolutePath", "target_file", "targetFile", "notebook_path", "uri", "pathname"),
)
_SEVERAL: Final = ("paths", "files", "file_paths", "filePaths", "filenames", "uris")
_FROM: Final = ("source", "source_path", "sourcePath", "from", "old_path", "oldPath", "src", *_PATHS)
_TO: Final = (
    "destination",
    "destination_path",
    "destinationPath",
    "dest",
    "to",
    "new_path",
    "newPath",
    "target",
    "dst",
)
_CONTENTS: Final = ("content", "contents", "text", "file_text", "fileText", "data", "new_content", "newContent", "body")
_OLD: Final = ("old_string", "oldString", "old_str", "oldStr", "old_text", "oldText")
_NEW: Final = ("new_string", "newString", "new_str", "newStr", "new_text", "newText")
_CHANGES: Final = (
    "edits",
    "changes",
    "replacements",
    "patch",
    "diff",
    "code",
    "new_source",
    "insert",
    "lines",
    "snippet",
)
_ELSEWHERE: Final = frozenset(
    {"owner", "repo", "repository", "branch", "project_id", "projectId", "bucket", "url", "host"}
)
_READING: Final = frozenset({
    *("read", "get", "list", "search", "find", "grep", "view", "show", "stat", "info", "tree", "describe", "fetch"),
    *("query", "check", "diff", "status", "cat", "head", "tail", "count", "lookup", "analyze", "analyse", "lint"),
    *("open", "validate", "explain", "summarize", "preview", "diagnostics", "hover", "references"),
})  # fmt: skip
_MAKING: Final = frozenset({"write", "create", "save", "put", "overwrite"})
_MOVING: Final = frozenset({"move", "rename", "mv"})
_DELETING: Final = frozenset({"delete", "remove", "unlink", "rm", "trash"})
_EDITING: Final = frozenset({
    *("edit", "replace", "insert", "append", "prepend", "patch", "rewrite", "refactor", "format", "modify"),
})  # fmt: skip
_WRITING: Final = _MAKING | _MOVING | _DELETING | _EDITING | {"update", "apply", "set", "add", "change", "fix", "copy"}
_PART: Final = frozenset({"head", "tail", "offset", "limit", "start_line", "end_line", "startLine", "endLine", "range"})
_OWN: Final = "commonhold"

Arguments = Mapping[str, Any]


def wishes_of(tool: str, arguments: object) -> tuple[IntendedWrite, ...]:
    """Return the writes that a call of an unknown tool may make here; none if it writes or names no file."""
    if not isinstance(arguments, Mapping) or _is_let_be(tool, arguments):
        return ()
    words = frozenset(_verbs(tool))
    if _only_reads(tool):
        return ()
    several = (wish for one in _each(arguments) for wish in _of_one(words, one))
    return _of_one(words, arguments) or tuple(several)


def _of_one(words: frozenset[str], arguments: Arguments) -> tuple[IntendedWrite, ...]:
    if words & _MOVING:
        there, to = _path(arguments, _FROM), _path(arguments, _TO)
        if there and to:
            return (Patched(there, (), to),)
    path = _path(arguments, _PATHS)
    return _at(path, words, arguments) if path else ()


def _each(arguments: Arguments) -> Iterator[Arguments]:
    """Yield the parts of a call, each with a path of its own: from lists of them, or of paths alone."""
    for name, value in arguments.items():
        for one in value if isinstance(value, list | tuple) else ():
            if isinstance(one, Mapping):
                yield one
            elif isinstance(one, str) and name in _SEVERAL:
                yield {"path": one}


def _at(path: str, words: frozenset[str], arguments: Arguments) -> tuple[IntendedWrite, ...]:
    """Return the effect of a call on the file at a path, by the verbs in the tool's name."""
    if words & _DELETING:
        return (Removed(path),)
    if words & _MAKING and not words & _EDITING and _has_text(arguments, _CONTENTS):
        return (Whole(path, text(arguments, *_CONTENTS)),)
    if swaps := _swaps(path, arguments):
        return swaps
    carries = _has_text(arguments, (*_CONTENTS, *_NEW)) or any(arguments.get(name) for name in _CHANGES)
    return (Somehow(path),) if carries or words & _EDITING else ()


def paths_read(tool: str, arguments: object) -> tuple[str, ...]:
    """Return the files that a call of an unknown tool has shown whole."""
    if not isinstance(arguments, Mapping) or _is_let_be(tool, arguments):
        return ()
    if not _only_reads(tool) or any(arguments.get(name) is not None for name in _PART):
        return ()
    several = arguments.get("paths", arguments.get("files"))
    named = several if isinstance(several, Sequence) and not isinstance(several, str) else [_path(arguments, _PATHS)]
    return tuple(_plain(each) for each in named if isinstance(each, str) and each)


def _is_let_be(tool: str, arguments: Arguments) -> bool:
    is_trial = any(arguments.get(name) is True for name in ("dryRun", "dry_run", "preview"))
    return _OWN in tool.lower() or is_trial or not _ELSEWHERE.isdisjoint(arguments)


def _verbs(tool: str) -> list[str]:
    """Return the known verbs in a tool's name; without those of its server's name, if the two can be separated."""
    own = tool.rpartition("__")[2].rpartition(":")[2]
    return [verb for word in _WORD.findall(own) if (verb := word.lower()) in _READING | _WRITING]


def _only_reads(tool: str) -> bool:
    """Whether its name says so. If it may begin with the name of a server, its last verb counts."""
    verbs = _verbs(tool)
    is_bare = "__" in tool or ":" in tool
    return bool(verbs) and (_WRITING.isdisjoint(verbs) if is_bare else verbs[-1] in _READING)


def _path(arguments: Arguments, names: Sequence[str]) -> str:
    return _plain(text(arguments, *names))


def _plain(path: str) -> str:
    """Return a path as the system knows it; empty if it is not local."""
    if "://" not in path:
        return path
    try:
        parts = urlsplit(path)
    except ValueError:
        return ""
    return unquote(parts.path) if parts.scheme == "file" else ""


def _has_text(arguments: Arguments, names: Sequence[str]) -> bool:
    return any(isinstance(arguments.get(name), str) for name in names)


def _swaps(path: str, arguments: Arguments) -> tuple[IntendedWrite, ...]:
    """Return the exchanges of one text for another; none if they are given in another form."""
    several = arguments.get("edits", arguments.get("replacements"))
    each = several if isinstance(several, Sequence) and not isinstance(several, str) else [arguments]
    found = [
        Swap(path, text(one, *_OLD), text(one, *_NEW), one.get("replace_all") is True or one.get("replaceAll") is True)
        for one in each
        if isinstance(one, Mapping) and _has_text(one, _OLD) and _has_text(one, _NEW) and text(one, *_OLD)
    ]
    return tuple(found) if found and len(found) == len(each) else ()
