"""The targets of notifications: a private file in the state folder, changed by its owner's command line alone.

A settings file of the repository cannot name one: any agent may write that file, and could so send the names of files
and tasks to a server of its choice.
"""

import base64
import ipaddress
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.server.notify.decisions import Kind
from commonhold.workspace.private_file import PrivateFile

FILE: Final = "notifications.json"
DESKTOP: Final = "desktop"
MOST_TARGETS: Final = 20
SECRET_MARK: Final = "whsec_"  # noqa: S105 - the beginning of secrets, as Standard Webhooks has it
_SECRET_BYTES: Final = 32
_ID_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Target:
    """A webhook at `url`, or the desktop of the daemon's user.

    `secret` signs what is sent to a webhook. `kinds` are the decisions to send; `after` is the newest event at the
    time at which it was added. With `is_private` the host may be this machine or one of a private network.
    """

    id: str
    url: str
    secret: str
    kinds: tuple[Kind, ...]
    is_private: bool
    after: int

    @property
    def is_desktop(self) -> bool:
        """Whether it is the desktop."""
        return self.url == DESKTOP

    @property
    def place(self) -> str:
        """The address without its path and query, which may be secrets themselves."""
        parts = urlsplit(self.url)
        return self.url if self.is_desktop else f"{parts.scheme}://{parts.netloc}/…"


def targets_file(state_folder: str) -> PrivateFile[Target]:
    """Return the file of targets."""
    return PrivateFile(state_folder, FILE, Target)


def add(state_folder: str, url: str, kinds: Collection[Kind], after: int, *, is_private: bool = False) -> Target:
    """Add a target, and return it with its new secret. No kinds mean all of them.

    Raises UsageError `ADDRESS_UNSAFE` for a URL that must not be called, InputError `CONFIG_INVALID`.
    """
    if url != DESKTOP:
        check_url(url, is_private=is_private)
    secret = SECRET_MARK + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    chosen = tuple(kinds) or tuple(Kind)
    made = Target(secrets.token_hex(_ID_BYTES), url, "" if url == DESKTOP else secret, chosen, is_private, after)
    file = targets_file(state_folder)
    with file.alone():
        known = file.read()
        if len(known) >= MOST_TARGETS:
            raise file.unusable(f"it has {MOST_TARGETS} targets already", "remove some: commonhold notify list")
        file.write([*known, made])
    return made


def remove(state_folder: str, id_: str) -> Target:
    """Remove a target. Raises InputError `NOTIFICATION_UNKNOWN`."""
    file = targets_file(state_folder)
    with file.alone():
        known = file.read()
        found = find(known, id_)
        file.write([each for each in known if each is not found])
    return found


def find(known: Collection[Target], id_: str) -> Target:
    """Return the target with this id. Raises InputError `NOTIFICATION_UNKNOWN`."""
    for each in known:
        if each.id == id_:
            return each
    raise InputError(
        Code.NOTIFICATION_UNKNOWN,
        f"there is no target of notifications with the id {id_!a}",
        hint="see the ids: commonhold notify list",
        fields={"id": id_},
    )


def check_url(url: str, *, is_private: bool) -> None:
    """Raise UsageError `ADDRESS_UNSAFE` unless it is a plain https URL; to a private host http will do."""
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        raise _unsafe("it is not a valid URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port:
        raise _unsafe("it does not begin with https:// and a host")
    if parts.scheme == "http" and not is_private:
        raise _unsafe("it is not encrypted")
    if parts.username or parts.password or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise _unsafe("it has a user, a password, a fragment or special characters")


def check_address(address: str, *, is_private: bool) -> None:
    """Raise UsageError `ADDRESS_UNSAFE` for an IP address that no notification may be sent to.

    Never permitted are addresses that stand for no single other machine, and link-local ones, where clouds hand out
    credentials. With `is_private` this machine and private networks are permitted.
    """
    found = ipaddress.ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    found = mapped or found
    is_reserved = found.is_reserved and not found.is_loopback
    if found.is_link_local or found.is_multicast or found.is_unspecified or is_reserved:
        raise _unsafe(f"its host has the address {address}, which notifications never go to")
    if not found.is_global and not is_private:
        raise _unsafe(f"its host has the address {address}, which is of this machine or of a private network")


def _unsafe(why: str) -> UsageError:
    return UsageError(
        Code.ADDRESS_UNSAFE,
        f"notifications cannot go to this URL: {why}",
        hint="give an https URL of a public host; for one of your own network add --private",
    )
