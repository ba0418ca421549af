"""The access tokens of a repository: random, kept as hashes in the state folder, issued and revoked by its owner."""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.scopes import Scope
from commonhold.workspace.private_file import PrivateFile

FILE: Final = "tokens.json"
MOST_TOKENS: Final = 1000
MARK: Final = "chd_"
"""The beginning of a token, by which it is recognised in logs."""
_ID_BYTES: Final = 4
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret, of which `digest` is the SHA-256 in hexadecimal.

    `label` says whose it is. With a `holder` it acts as that session, and its subagents, only. Times are seconds since
    1970; `expires_at` is None if it lasts until it is revoked.
    """

    id: str
    digest: str
    scope: Scope
    label: str
    holder: str | None
    issued_at: float
    expires_at: float | None

    def is_valid(self, now: float) -> bool:
        """Whether it has not expired at `now`."""
        return self.expires_at is None or now < self.expires_at


def issue(
    state_folder: str, scope: Scope, now: float, *, label: str = "", holder: str | None = None, ttl: float | None = None
) -> tuple[Token, str]:
    """Make a token that lasts `ttl` seconds, or until it is revoked; return it, and its text, which is kept nowhere.

    Raises InputError `CONFIG_INVALID` if the file of tokens cannot be used.
    """
    id_, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    made = Token(id_, _digest(secret), scope, label, holder, now, None if ttl is None else now + ttl)
    file = _file(state_folder)
    with file.alone():
        known = [each for each in file.read() if each.is_valid(now)]
        if len(known) >= MOST_TOKENS:
            raise file.unusable(f"it has {MOST_TOKENS} tokens already", "revoke some: commonhold token list")
        file.write([*known, made])
    return made, f"{MARK}{id_}_{secret}"


def revoke(state_folder: str, id_: str) -> Token:
    """Remove a token: the server refuses it from its next request on. Raises InputError `TOKEN_UNKNOWN`."""
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
        file.write([each for each in known if each is not found])
    return found


def tokens(state_folder: str) -> tuple[Token, ...]:
    """Return the tokens of a repository, the oldest first. Raises InputError `CONFIG_INVALID`."""
    return _file(state_folder).read()


class KnownTokens:
    """The tokens of a repository, read again when their file has changed."""

    def __init__(self, state_folder: str) -> None:
        """Read the file in this folder."""
        self._file = _file(state_folder)
        self._stamp: tuple[int, ...] | None = None
        self._tokens: dict[str, Token] = {}

    def find(self, text: str, now: float) -> Token | None:
        """Return the valid token with this text; None if there is none. Raises InputError `CONFIG_INVALID`."""
        stamp = self._file.stamp()
        if stamp != self._stamp:
            self._tokens = {each.id: each for each in self._file.read()}
            self._stamp = stamp
        id_, _, secret = text.removeprefix(MARK).partition("_")
        token = self._tokens.get(id_)
        is_it = hmac.compare_digest(_digest(secret), token.digest if token else _digest(""))
        is_token = text.startswith(MARK) and is_it and token is not None and token.is_valid(now)
        return token if is_token else None


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _file(state_folder: str) -> PrivateFile[Token]:
    return PrivateFile(state_folder, FILE, Token)
