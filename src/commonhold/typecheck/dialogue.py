"""The dialogue between us and one language server that was started in one folder."""

import os
import threading
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from commonhold.code.type_checkers import Diagnostic
from commonhold.typecheck.connection import Asked, Connection, Deadline, ErrorAnswer, Unanswered
from commonhold.typecheck.disk import Change
from commonhold.typecheck.framing import ServerFault
from commonhold.typecheck.published import Published
from commonhold.typecheck.server import Push, Server

Said = tuple[Diagnostic, ...]

_PULL: Final = "textDocument/diagnostic"
_ERROR: Final = 1
# "Content modified" and "server cancelled": the server wants to be asked again.
_ASK_AGAIN: Final = frozenset({-32801, -32802})
_MOST_TRIES: Final = 5
_CAPABILITIES: Final = {
    "general": {"positionEncodings": ["utf-8"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    },
    "textDocument": {
        "synchronization": {},
        "diagnostic": {"dynamicRegistration": False, "relatedDocumentSupport": False},
        "publishDiagnostics": {"versionSupport": True},
    },
    "window": {"workDoneProgress": True},
}
# A server requests these, and goes on after any answer.
_REFRESH: Final = "workspace/diagnostic/refresh"
_AGREED: Final = frozenset(
    {
        _REFRESH,
        "client/registerCapability",
        "client/unregisterCapability",
        "window/workDoneProgress/create",
        "window/showMessageRequest",
        "workspace/semanticTokens/refresh",
        "workspace/inlayHint/refresh",
        "workspace/codeLens/refresh",
        "workspace/foldingRange/refresh",
    }
)


class Dialogue:
    """A server that has been greeted, and the files that it was shown. Not safe for two threads at once.

    Every fault of the server is raised as ServerFault; it is of no use from then on, except after Unanswered.
    """

    def __init__(
        self, server: Server, program: str, root: str, environment: Mapping[str, str], deadline: Deadline
    ) -> None:
        """Start `program` in `root`, and greet it."""
        self._server, self._root = server, root
        self._versions: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._known: dict[str, Said] = {}  # its answers since the last message to it
        self._is_other = threading.Event()  # the server wants to be asked again
        self._untold: set[str] = set()
        self._published = Published()
        self.connection = Connection((program, *server.arguments), root, environment, self)
        try:
            self.checker = self._greet(deadline)
        except ServerFault as fault:
            raise self._ended(fault) from fault

    def show(self, texts: Mapping[str, str]) -> None:
        """Show it these texts by path, whatever is on disk, until it is shown others or `hide` is called."""
        for path, text in texts.items():
            if path not in self._texts:
                opened = {"languageId": self._server.language_of(path), "text": text}
                self._tell("didOpen", path, self._next_version(path) | opened)
            elif self._texts[path] != text:
                self._tell("didChange", path, self._next_version(path), contentChanges=[{"text": text}])
            self._texts[path] = text

    def hide(self, paths: Iterable[str]) -> None:
        """Let it see these files as they are on disk."""
        hidden = [path for path in paths if self._texts.pop(path, None) is not None]
        for path in hidden:
            self._tell("didClose", path, {})
        self.tell_of(dict.fromkeys(self._untold.intersection(hidden), Change.CHANGED))

    def shown(self) -> frozenset[str]:
        """The files that it sees as they were shown."""
        return frozenset(self._texts)

    def tell_of(self, changes: Mapping[str, Change]) -> None:
        """Report changes on disk to it."""
        if changes:
            self._known.clear()
            self._untold -= changes.keys()
            listed = [{"uri": self._uri(path), "type": int(change)} for path, change in changes.items()]
            self.connection.tell("workspace/didChangeWatchedFiles", {"changes": listed})

    def tell_when_hidden(self, paths: Iterable[str]) -> None:
        """Report changes of these files only when they are hidden: until then the server is shown the text on disk."""
        self._untold.update(paths)

    def shows(self, path: str, text: str | None) -> bool:
        """Whether it sees this text there, because it was shown that."""
        return text is not None and self._texts.get(path) == text

    def diagnostics(self, paths: Collection[str], deadline: Deadline) -> dict[str, Said]:
        """Return its complaints about files that it was shown: of those that it answered about in time.

        Raises ServerFault if it answered about none of them.
        """
        try:
            if isinstance(self._server.diagnostics, Push):
                heard = self._published.settled(self._server.diagnostics.quiet_seconds, deadline)
                return {path: _said(path, heard.get(path, [])) for path in paths}
            return self._asked(paths, deadline)
        except Unanswered:
            raise
        except ServerFault as fault:
            raise self._ended(fault) from fault

    def end(self) -> None:
        """End the server."""
        self.connection.end()

    def answer(self, method: str, params: object) -> object:
        """Return the answer to a server's request to its editor."""
        if method == "workspace/configuration":
            items = params.get("items") if isinstance(params, dict) else None
            return [self._setting(item) for item in (items if isinstance(items, list) else ())]
        if method == "workspace/workspaceFolders":
            return [{"uri": self._uri(""), "name": os.path.basename(self._root)}]
        if method == "workspace/applyEdit":
            return {"applied": False}
        if method == _REFRESH:
            self._is_other.set()
        if method in _AGREED:
            return None
        raise LookupError(method)

    def hear(self, method: str, params: object) -> None:
        """Take the diagnostics among its notifications."""
        if method == "textDocument/publishDiagnostics" and isinstance(params, dict):
            uri = params.get("uri")
            place = unquote(urlsplit(uri).path) if isinstance(uri, str) else ""
            path = os.path.relpath(place, self._root) if place else ""
            self._published.take(path, params.get("version"), params.get("diagnostics"))

    def lose(self, fault: ServerFault) -> None:
        """Fail all open requests: the server will not answer any more."""
        self._published.lose(fault)

    def _ended(self, fault: ServerFault) -> ServerFault:
        """Return the fault with the reason why the server has ended."""
        self.connection.end()
        return ServerFault(f"{fault}{self.connection.last_words()}")

    def _greet(self, deadline: Deadline) -> str:
        uri = self._uri("")
        params = {
            "processId": os.getpid(),
            "clientInfo": {"name": "commonhold"},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": os.path.basename(self._root)}],
            "capabilities": _CAPABILITIES,
        }
        answer = self.connection.ask("initialize", params).wait(deadline)
        if not isinstance(answer, dict) or not isinstance(answer.get("capabilities"), dict):
            raise ServerFault("did not declare its capabilities")
        self.connection.tell("initialized", {})
        info = answer.get("serverInfo")
        version = info.get("version") if isinstance(info, dict) else None
        return f"{self._server.name} {version}" if isinstance(version, str) else self._server.name

    def _next_version(self, path: str) -> dict[str, object]:
        version = self._versions[path] = self._versions.get(path, 0) + 1
        self._published.expect(path, version)
        return {"version": version}

    def _asked(self, paths: Collection[str], deadline: Deadline) -> dict[str, Said]:
        if self._is_other.is_set():
            self._is_other.clear()
            self._known.clear()
        answers = {path: self._known[path] for path in paths if path in self._known}
        asked = {path: self._ask_for(path) for path in paths if path not in answers}
        lacking: ServerFault | None = None
        for path, one in asked.items():
            try:
                answers[path] = self._known[path] = self._answer_about(path, one, deadline)
            except (Unanswered, ErrorAnswer) as fault:
                lacking = fault
        self.connection.give_up()
        if lacking is not None and not answers:
            raise lacking
        return answers

    def _ask_for(self, path: str) -> Asked:
        return self.connection.ask(_PULL, {"textDocument": {"uri": self._uri(path)}})

    def _answer_about(self, path: str, asked: Asked, deadline: Deadline) -> Said:
        for _ in range(_MOST_TRIES):
            try:
                report = asked.wait(deadline)
            except ErrorAnswer as fault:
                if fault.number not in _ASK_AGAIN:
                    raise
                asked = self._ask_for(path)
            else:
                return _said(path, report.get("items") if isinstance(report, dict) else None)
        raise Unanswered(f"put off a question {_MOST_TRIES} times")

    def _setting(self, item: object) -> object:
        section = item.get("section") if isinstance(item, dict) else None
        return self._server.settings.get(section) if isinstance(section, str) else None

    def _tell(self, what: str, path: str, document: Mapping[str, object], **more: object) -> None:
        self._known.clear()
        self.connection.tell(f"textDocument/{what}", {"textDocument": {"uri": self._uri(path), **document}, **more})

    def _uri(self, path: str) -> str:
        return f"file://{quote(os.path.join(self._root, path) if path else self._root)}"


def _said(path: str, items: object) -> Said:
    """Return the errors among diagnostics: a warning is an opinion, and the project's settings decide on errors."""
    if not isinstance(items, list):
        raise ServerFault("answered with no list of diagnostics")
    errors = (item for item in items if isinstance(item, dict) and item.get("severity", _ERROR) == _ERROR)
    return tuple(_diagnostic(path, item) for item in errors)


def _diagnostic(path: str, item: Mapping[str, Any]) -> Diagnostic:
    try:
        line = int(item["range"]["start"]["line"]) + 1
        message = str(item["message"])
    except (KeyError, TypeError, ValueError) as fault:
        raise ServerFault("answered with an invalid diagnostic") from fault
    # The text after an empty line is advice, and mentions this machine.
    return Diagnostic(path, line, message.partition("\n\n")[0], str(item.get("code", "")))
