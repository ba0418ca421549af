"""Keys with a count: `home~3` is the third definition of its name, until an edit adds or deletes one above it.

An edit or a read with such a key is followed to the definition whose text was its base. If that text no longer exists,
the number may by now be that of another definition, unless the file is known to contain the same others.
"""

from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Key
from commonhold.reads.content_history import ContentHistory
from commonhold.reads.stale_base import Stale


def with_base(source: RegionMap, key: Key, base: str | None) -> Key:
    """Return the key of the only region with the hash `base` among those with the name of `key`.

    That is `key` itself if its region has that hash, or if none has, or several have.
    """
    named = source.by_key.get(key)
    if base is None or not key.names or key.is_header or (named is not None and named.hash.startswith(base)):
        return key
    alike = [each.key for each in source.by_bare_key.get(key.bare(), ()) if each.hash.startswith(base)]
    return alike[0] if len(alike) == 1 else key


def may_be_another(past: ContentHistory, stale: Stale, region: Region, base: str) -> bool:
    """Whether the number in a key may mean another definition than when it had the hash `base`.

    It does not if that version of the file is kept, and its other definitions of that name are the present ones.
    """
    source = stale.source
    if source is None or not (_counts(stale.key) or _counts(region.key)):
        return False
    version = past.version_with(region.key, base)
    if version is None or stale.key != region.key:
        return True
    then = discover(version, source.path)
    others = (
        [(each.key, each.hash) for each in every.by_bare_key.get(region.key.bare(), ()) if each.key != region.key]
        for every in (then, source)
    )
    return next(others) != next(others)


def _counts(key: Key) -> bool:
    return any(name.ordinal for name in key.names)
