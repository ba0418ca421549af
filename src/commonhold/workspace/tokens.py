"""The access tokens of a repository: random, kept as hashes in the state folder, issued and revoked by its owner."""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.scopes import Scope
from commonhold.workspace.private_file import PrivateFile

FILE: Final = "tokens.json"
MOST_TOKENS: Final = 1000
BROWSER_SECONDS: Final = 7 * 86_400.0
MOST_BROWSERS: Final = 20
LINK_SECONDS: Final = 600.0
"""How long a token that `is_once` lasts by default."""
MARK: Final = "chd_"
"""The beginning of a token, by which it is recognised in logs."""
_ID_BYTES: Final = 4
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret, of which `digest` is the SHA-256 in hexadecimal.

    `label` says whose it is. With a `holder` it acts as that session, and its subagents, only. Times are seconds since
    1970; `expires_at` is None if it lasts until it is revoked. One that `is_once` admits nothing: it is exchanged for
    the token of a browser, and is gone then. The token of a browser ends with its `parent`, for which it was exchanged.
    """

    id: str
    digest: str
    scope: Scope
    label: str
    holder: str | None
    issued_at: float
    expires_at: float | None
    is_once: bool = False
    parent: str = ""

    def is_valid(self, now: float) -> bool:
        """Whether it has not expired at `now`."""
        return self.expires_at is None or now < self.expires_at


def issue(
    state_folder: str,
    scope: Scope,
    now: float,
    *,
    label: str = "",
    holder: str | None = None,
    ttl: float | None = None,
    is_once: bool = False,
) -> tuple[Token, str]:
    """Make a token that lasts `ttl` seconds, or until it is revoked; return it, and its text, which is kept nowhere.

    Raises InputError `CONFIG_INVALID` if the file of tokens cannot be used.
    """
    made, text = _made(scope, label, holder, now, None if ttl is None else now + ttl)
    made = replace(made, is_once=is_once)
    file = _file(state_folder)
    with file.alone():
        _add(file, made, file.read(), now)
    return made, text


def exchange(state_folder: str, text: str, now: float) -> tuple[Token, str] | None:
    """Make the token of a browser for the bearer of the token with this text; None if that is not valid.

    It has the same rights for BROWSER_SECONDS, unless the other expires or is revoked before. One that `is_once` is
    removed in the same step; of the browsers of any other, the newest MOST_BROWSERS are kept.

    Raises InputError `CONFIG_INVALID`.
    """
    file = _file(state_folder)
    with file.alone():
        known = file.read()
        given = _matching({each.id: each for each in known}, text, now)
        if given is None:
            return None
        parent = "" if given.is_once else given.parent or given.id
        siblings = [each for each in known if parent and each.parent == parent]
        gone = {given.id} if given.is_once else {each.id for each in siblings[: 1 - MOST_BROWSERS]}
        ends = now + BROWSER_SECONDS
        if not given.is_once and given.expires_at is not None:
            ends = min(ends, given.expires_at)
        made, secret = _made(given.scope, given.label or "browser", given.holder, now, ends)
        made = replace(made, parent=parent)
        _add(file, made, [each for each in known if each.id not in gone], now)
    return made, secret


def _made(scope: Scope, label: str, holder: str | None, now: float, ends: float | None) -> tuple[Token, str]:
    id_, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    return Token(id_, _digest(secret), scope, label, holder, now, ends), f"{MARK}{id_}_{secret}"


def _add(file: PrivateFile[Token], made: Token, known: Sequence[Token], now: float) -> None:
    valid = [each for each in known if each.is_valid(now)]
    if len(valid) >= MOST_TOKENS:
        raise file.unusable(f"it has {MOST_TOKENS} tokens already", "revoke some: commonhold token list")
    file.write([*valid, made])


def revoke(state_folder: str, id_: str) -> Token:
    """Remove a token, and those of browsers that it was exchanged for. Raises InputError `TOKEN_UNKNOWN`.

    The server refuses them from the next request on.
    """
    file = _file(state_folder)
    with file.alone():
        known = file.read()
        found = next((each for each in known if each.id == id_), None)
        if found is None:
            raise InputError(
                Code.TOKEN_UNKNOWN,
                f"there is no access token with the id {id_!a}",
                hint="see the ids: commonhold token list",
                fields={"id": id_},
            )
        file.write([each for each in known if each is not found and each.parent != id_])
    return found


def tokens(state_folder: str) -> tuple[Token, ...]:
    """Return the tokens of a repository, the oldest first. Raises InputError `CONFIG_INVALID`."""
    return _file(state_folder).read()


class KnownTokens:
    """The tokens of a repository, read again when their file has changed."""

    def __init__(self, state_folder: str) -> None:
        """Read the file in this folder."""
        self.state_folder = state_folder
        self._file = _file(state_folder)
        self._stamp: tuple[int, ...] | None = None
        self._tokens: dict[str, Token] = {}

    def can_exchange(self, text: str, now: float) -> bool:
        """Whether a browser may exchange the token with this text. Raises InputError `CONFIG_INVALID`."""
        return _matching(self._present(), text, now) is not None

    def find(self, text: str, now: float) -> Token | None:
        """Return the valid token with this text; None if there is none, or it `is_once`.

        Raises InputError `CONFIG_INVALID`.
        """
        token = _matching(self._present(), text, now)
        return None if token is None or token.is_once else token

    def _present(self) -> Mapping[str, Token]:
        stamp = self._file.stamp()
        if stamp != self._stamp:
            self._tokens = {each.id: each for each in self._file.read()}
            self._stamp = stamp
        return self._tokens


def _matching(known: Mapping[str, Token], text: str, now: float) -> Token | None:
    id_, _, secret = text.removeprefix(MARK).partition("_")
    token = known.get(id_)
    is_it = hmac.compare_digest(_digest(secret), token.digest if token else _digest(""))
    return token if text.startswith(MARK) and is_it and token is not None and token.is_valid(now) else None


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _file(state_folder: str) -> PrivateFile[Token]:
    return PrivateFile(state_folder, FILE, Token)
