"""Who may still use a definition whose modifiers changed, and how."""

from typing import Final

from commonhold.code.analysis.effects import Impact
from commonhold.code.analysis.references import Receiver, Reference, Use
from commonhold.code.analysis.repository.call_signatures import how_used
from commonhold.code.analysis.repository.summary import ABSTRACT, PRIVATE, STATIC
from commonhold.code.analysis.repository.symbols import Thing, What

_ON_OBJECTS: Final = frozenset({Receiver.INSTANCE, Receiver.SELF, Receiver.SUPER})
# Elsewhere an object gives access to the static members of its class.
_WITHOUT_STATIC: Final = frozenset({"javascript", "typescript", "tsx"})
_RUST: Final = ".rs"
_OF_FOLDERS: Final = frozenset({"lib", "main", "mod"})


def access_lost(was: Thing, now: Thing, user: str, use: Reference, language: str) -> Impact | None:
    """Return the effect of changed modifiers on a use in the file `user`; None if it may go on as it is."""
    if was.offer is None or now.offer is None or was.offer.modifiers == now.offer.modifiers:
        return None
    gained, lost = now.offer.modifiers - was.offer.modifiers, was.offer.modifiers - now.offer.modifiers
    if PRIVATE in gained and not _sees_inside(now.path, user):
        return Impact(f"{how_used(use)} from outside", is_broken=True)
    if STATIC in lost and now.receiver is Receiver.CLASS:
        return Impact(f"{how_used(use)} without an object", is_broken=True)
    if STATIC in gained and now.receiver in _ON_OBJECTS and language in _WITHOUT_STATIC:
        return Impact(f"{how_used(use)} by an object", is_broken=True)
    if ABSTRACT in gained and now.what is What.CLASS and use.use is Use.CALL:
        return Impact(how_used(use), is_broken=True)
    return None


def _sees_inside(path: str, user: str) -> bool:
    """Whether a file sees the private items of another: its own, and in Rust also those of modules above it."""
    if user == path or not path.endswith(_RUST):
        return user == path
    folder, _, name = path.removesuffix(_RUST).rpartition("/")
    inside = folder if name in _OF_FOLDERS else f"{folder}/{name}" if folder else name
    return user.startswith(f"{inside}/") if inside else True
