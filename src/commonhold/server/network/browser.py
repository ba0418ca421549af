"""The session of a browser, and the files of the dashboard.

A browser exchanges a token once, for a token of its own, whose text it keeps in two halves: a cookie that no script can
read, and a header that the page adds to its requests. Neither admits anything alone. So a request that another site
makes the browser send is nobody's, since that site cannot know the header; and a server at another port of this host,
to which a browser sends the same cookies, learns nothing of use.
"""

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final

import msgspec

from commonhold.kernel.errors import Code, UsageError
from commonhold.server.asgi import JSON, Answer, Scope, header
from commonhold.server.network.access import Access
from commonhold.workspace import tokens

SESSION: Final = "/session"
PAGE: Final = b"x-commonhold-page"
"""The header with the half of the token that the page keeps."""
_COOKIE: Final = "commonhold"
_COOKIE_LENGTH: Final = 34
"""How much of a token's text the cookie has: the id, and about half of the secret."""
_FOLDER: Final = Path(__file__).parents[1] / "dashboard"
_TYPES: Final = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    b" base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
    (b"connection", b"close"),  # a stranger keeps no connection
)


def token_of_page(scope: Scope) -> str:
    """Return the text of the token whose halves a request has; empty if it has not both."""
    half = header(scope, PAGE)
    try:
        cookie = SimpleCookie(header(scope, b"cookie")).get(_cookie_name(scope)) if half else None
    except CookieError:
        cookie = None
    return cookie.value + half if cookie and len(cookie.value) == _COOKIE_LENGTH else ""


def text_of(scope: Scope) -> str:
    """Return the text of the token that the bearer of a request sends; empty if there is none."""
    kind, _, text = header(scope, b"authorization").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


def not_exchanged() -> UsageError:
    """Return the error for a token that signs no browser in."""
    return UsageError(
        Code.TOKEN_INVALID,
        "this token is not valid, or the link was used before: it signs in one browser",
        hint="make one: commonhold token issue --scope admin --once",
    )


def begin(scope: Scope, state_folder: str, now: float) -> Answer:
    """Exchange the bearer's token for one of this browser. Raises UsageError `TOKEN_INVALID`, InputError."""
    found = tokens.exchange(state_folder, text_of(scope), now)
    if found is None:
        raise not_exchanged()
    token, secret = found
    half, rest = secret[:_COOKIE_LENGTH], secret[_COOKIE_LENGTH:]
    shape = {"page": rest, "scope": token.scope, "holder": token.holder}
    lasting = f"{half}; Max-Age={int((token.expires_at or now) - now)}"
    return Answer(200, msgspec.json.encode(shape), (JSON, *_HEADERS, (b"set-cookie", _cookie(scope, lasting))))


def described(access: Access) -> Answer:
    """Return the rights of the browser that asks."""
    return Answer(200, msgspec.json.encode({"scope": access.scope, "holder": access.holder}), (JSON, *_HEADERS))


def end(scope: Scope, access: Access, state_folder: str) -> Answer:
    """Revoke the token of this browser, and remove its cookie."""
    tokens.revoke(state_folder, access.bearer)
    return Answer(204, b"", (*_HEADERS, (b"set-cookie", _cookie(scope, "; Max-Age=0"))))


def _cookie_name(scope: Scope) -> str:
    """Return the name of the cookie, which has the port: browsers share cookies among the ports of a host."""
    port = header(scope, b"host").rpartition(":")[2]
    return f"{_COOKIE}_{port}" if port.isdigit() else _COOKIE


def _cookie(scope: Scope, value: str) -> bytes:
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{_cookie_name(scope)}={value}; Path=/; HttpOnly; SameSite=Strict{secure}".encode()


def file_at(scope: Scope, path: str) -> Callable[[], Answer] | None:
    """Return how to make the answer for a file of the dashboard; None if there is none at this path."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or path not in _paths():
        return None
    return lambda: _file(scope, path)


def _file(scope: Scope, path: str) -> Answer:
    file = _paths()[path]
    data = file.read_bytes()
    tag = f'"{sha256(data).hexdigest()}"'
    headers = (*_HEADERS, (b"content-type", _TYPES[file.suffix]), (b"etag", tag.encode()))
    if header(scope, b"if-none-match") == tag:
        return Answer(304, b"", headers)
    return Answer(200, b"" if scope["method"] == "HEAD" else data, headers)


@cache
def _paths() -> Mapping[str, Path]:
    """Return the files by their paths: nothing else in the folder of the program is served."""
    files = (each for each in _FOLDER.iterdir() if each.suffix in _TYPES)
    return {"/" if each.name == "index.html" else f"/dashboard/{each.name}": each for each in files}
