"""What programs of ours ask over HTTP: of a question of another form nothing is done, and it is told what is wrong."""

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from typing import Any, get_type_hints

import pytest

from commonhold.agents.git.calls import GitCalls
from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.hooks import Hooks
from commonhold.agents.runtime.questions import GitBegins, GitEnds, Route, ShellBegins, ShellEnds
from commonhold.kernel.errors import Code, StoreError
from commonhold.server.http import Web

WHOLE: dict[type, dict[str, Any]] = {
    GitBegins: {"holder": "ann", "cwd": "/", "argv": ["status"], "index": "", "git_dir": "", "has_turn": 1},
    GitEnds: {"after": "a", "status": 0},
    ShellBegins: {"cwd": "/", "command": ["sh", "-c", "x\udcff"], "kept": 0, "process": 7, "root": "/", "call": ""},
    ShellEnds: {"ticket": "t", "status": 1},
}
FORMS = tuple(WHOLE)


def answered(route: Route, body: bytes) -> tuple[int, str]:
    web = Web(Hooks({}, lambda _: None, CallsSeen()), {"/asked": route}, lambda *_: asyncio.sleep(0), set())  # type: ignore[arg-type,return-value]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(web.private({"path": "/asked", "method": "POST", "headers": []}, receive, send))
    return sent[0]["status"], sent[-1]["body"].decode()


def never(_: Mapping[str, Any]) -> Mapping[str, Any]:
    pytest.fail("it was done")


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_question_comes_as_it_was_asked(form: type) -> None:
    asked: list[Mapping[str, Any]] = []

    def note(told: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(told)
        return {}

    body = json.dumps({**WHOLE[form], "what nobody knows": 1}).encode()
    assert answered(Route(form, note), body) == (200, "{}")
    assert asked == [WHOLE[form]]


@pytest.mark.parametrize(
    ("form", "name"),
    [(form, name) for form in FORMS for name in sorted(form.__required_keys__)],  # type: ignore[attr-defined]
)
def test_what_is_missing_is_named(form: type, name: str) -> None:
    asked = {key: value for key, value in WHOLE[form].items() if key != name}
    status, text = answered(Route(form, never), json.dumps(asked).encode())
    assert (status, name in text) == (400, True)


@pytest.mark.parametrize(("form", "name"), [(form, name) for form in FORMS for name in get_type_hints(form)])
@pytest.mark.parametrize("value", [None, {}, 0.5, [1], 2**70])
def test_what_is_of_another_kind_is_refused(form: type, name: str, value: object) -> None:
    status, text = answered(Route(form, never), json.dumps({**WHOLE[form], name: value}).encode())
    assert (status, name in text) == (400, True)


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b'{"argv": []}'])
def test_what_is_no_question_is_refused(body: bytes) -> None:
    assert answered(Route(GitBegins, never), body)[0] == 400


def test_an_end_without_a_name_is_no_defect_of_ours(tmp_path: object) -> None:
    git = GitCalls(str(tmp_path), lambda *_: pytest.fail("looked"), lambda *_: None, lambda *_: False)
    begin, end = Route(GitBegins, git.begin), Route(GitEnds, git.end)
    assert answered(end, b"{}")[0] == 400
    assert answered(begin, b"{}")[0] == 400
    assert answered(end, b'{"after": "unknown", "status": 0}') == (200, "{}")


def test_an_error_and_a_defect_are_told_apart() -> None:
    def fail(fault: Exception) -> Route:
        def call(_: Mapping[str, Any]) -> Mapping[str, Any]:
            raise fault

        return Route(GitEnds, call)

    body = json.dumps(WHOLE[GitEnds]).encode()
    assert answered(fail(StoreError(Code.DISK_FULL, "full", hint="make room")), body)[0] == 409
    assert answered(fail(KeyError("x")), body)[0] == 500
    status, text = answered(fail(MemoryError()), body)
    assert (status, json.loads(text)["code"]) == (409, "STORE_BUSY")
