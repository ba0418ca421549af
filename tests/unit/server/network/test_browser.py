"""The session of a browser: both halves of its token together admit it, and neither alone."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.server.network.test_access import asked, refusal

from commonhold.kernel.errors import Code, CommonholdError
from commonhold.kernel.scopes import Scope
from commonhold.server.asgi import Answer
from commonhold.server.network import browser
from commonhold.server.network.gate import Gate
from commonhold.workspace.tokens import KnownTokens, issue, tokens

NOW = 1000.0


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


@pytest.fixture
def gate(folder: str) -> Gate:
    return Gate(KnownTokens(folder), [], 10.0, lambda: NOW, lambda: 0.0)


def cookie_of(answer: Answer) -> str:
    return dict(answer.headers)[b"set-cookie"].decode()


def signed_in(gate: Gate, folder: str) -> tuple[str, str]:
    """Sign in; return the cookie and the half of the page."""
    _, text = issue(folder, Scope.REVIEWER, NOW, ttl=600.0, is_once=True)
    answer = gate.begin_session(asked(authorization=f"Bearer {text}"))
    return cookie_of(answer).partition(";")[0], answer.body.split(b'"')[3].decode()


def test_both_halves_admit_with_the_rights_of_the_link(gate: Gate, folder: str) -> None:
    cookie, half = signed_in(gate, folder)
    access = gate.admit(asked(cookie=f"other=1; {cookie}", x_commonhold_page=half))
    assert access.scope is Scope.REVIEWER
    assert browser.described(access).body == b'{"scope":"reviewer","holder":null}'


def test_neither_half_admits_alone(gate: Gate, folder: str) -> None:
    cookie, half = signed_in(gate, folder)
    name, _, value = cookie.partition("=")
    assert name == "commonhold_7420"
    tried: tuple[dict[str, Any], ...] = (
        {"cookie": cookie},
        {"x_commonhold_page": half},
        {"cookie": cookie, "x_commonhold_page": half[:-1]},
        {"cookie": f"commonhold_7421={value}", "x_commonhold_page": half},
        {"cookie": f"{name}={value}{half}", "x_commonhold_page": " "},
        {"cookie": cookie, "x_commonhold_page": half, "authorization": "Bearer x"},
        {"cookie": f"{name}=", "x_commonhold_page": value + half},
    )
    for headers in tried:
        assert refusal(gate, asked(**headers)) is Code.TOKEN_INVALID, headers
    assert refusal(gate, asked("websocket", cookie=cookie, x_commonhold_page=half)) is Code.TOKEN_INVALID


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8000", "http://pages.example", "null"])
def test_another_site_has_no_use_of_the_cookie(gate: Gate, folder: str, origin: str) -> None:
    cookie, half = signed_in(gate, folder)
    assert refusal(gate, asked(origin=origin, cookie=cookie, x_commonhold_page=half)) is Code.ORIGIN_REFUSED
    with pytest.raises(CommonholdError) as fault:
        gate.check_exchange(asked(origin=origin, authorization="Bearer x"))
    assert fault.value.code is Code.ORIGIN_REFUSED


def test_the_cookie_is_kept_from_scripts_and_other_sites(gate: Gate, folder: str) -> None:
    for scheme, is_secure in (("http", False), ("https", True)):
        _, text = issue(folder, Scope.ADMIN, NOW)
        answer = gate.begin_session({**asked(authorization=f"Bearer {text}"), "scheme": scheme})
        traits = cookie_of(answer).split("; ")[1:]
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(traits)
        assert ("Secure" in traits) is is_secure


def test_signing_out_revokes_the_token(gate: Gate, folder: str) -> None:
    cookie, half = signed_in(gate, folder)
    answer = gate.end_session(asked(cookie=cookie, x_commonhold_page=half))
    assert (answer.status, "Max-Age=0" in cookie_of(answer)) == (204, True)
    assert refusal(gate, asked(cookie=cookie, x_commonhold_page=half)) is Code.TOKEN_INVALID
    assert tokens(folder) == ()


def test_a_link_signs_in_one_browser(gate: Gate, folder: str) -> None:
    _, text = issue(folder, Scope.ADMIN, NOW, is_once=True)
    assert refusal(gate, asked(authorization=f"Bearer {text}")) is Code.TOKEN_INVALID
    gate.check_exchange(asked(authorization=f"Bearer {text}"))
    gate.begin_session(asked(authorization=f"Bearer {text}"))
    for again in (gate.check_exchange, gate.begin_session):
        with pytest.raises(CommonholdError) as fault:
            again(asked(authorization=f"Bearer {text}"))
        assert fault.value.code is Code.TOKEN_INVALID


def served(path: str, **headers: Any) -> Answer | None:
    scope = {**asked(**headers), "method": "GET"}
    found = browser.file_at(scope, path)
    return found() if found else None


def test_the_files_of_the_page_run_no_code_but_their_own() -> None:
    page = served("/")
    assert page
    assert b'<script type="module" src="/dashboard/app.js">' in page.body
    policy = dict(page.headers)[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy


def test_a_file_that_did_not_change_is_not_sent_again() -> None:
    first = served("/dashboard/app.js")
    assert first
    again = served("/dashboard/app.js", if_none_match=dict(first.headers)[b"etag"].decode())
    assert again
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/dashboard/", "/dashboard/../gate.py", "/dashboard/gate.py", "/index.html", "//"])
def test_nothing_else_is_served(path: str) -> None:
    assert served(path) is None


def test_no_script_of_the_page_parses_html() -> None:
    folder = Path(browser.__file__).parents[1] / "dashboard"
    scripts = "".join(each.read_text(encoding="utf-8") for each in sorted(folder.glob("*.js")))
    for call in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert call not in scripts
