"""Find a region of a map by its name."""

import shlex
from difflib import get_close_matches
from typing import Final

from commonhold.code.regions.region import Problem, Region, RegionMap, plain_name
from commonhold.code.regions.unlisted_names import declaring, why_lost
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import HEADER, Key, Name, Names

_MOST_SUGGESTIONS: Final = 5


def find(map: RegionMap, names: Names) -> Region:  # noqa: A002 - the word of the domain
    """Return the region that `names` means: its canonical names, or any that fit only one (`f` or `f~1` for one f).

    No names mean the whole file. Raises InputError REGION_UNKNOWN (the hint lists similar names) or REGION_AMBIGUOUS
    (field `choices`: the keys as text) for a bare name that is repeated.
    """
    found = lookup(map, names)
    if found is None:
        raise _unknown(map, names)
    return found


def lookup(map: RegionMap, names: Names) -> Region | None:  # noqa: A002 - the word of the domain
    """Do the same as `find`, but return None for a missing region; quick, since it searches no similar names.

    Raises InputError REGION_AMBIGUOUS, and ENCODING_INVALID if the file's encoding rules out any region.
    """
    found = _matches(map, names)
    if not found and _undecoded(map):
        raise _unknown(map, names)
    if len(found) > 1:
        raise _ambiguous(map, names, found)
    return found[0] if found else None


def reserve(map: RegionMap, names: Names) -> Key:  # noqa: A002 - the word of the domain
    """Return the key to lease for a region that may not exist yet.

    That is the canonical key of the region if it exists, or of the header that declares the name. It is the key of the
    file if the name stands in the file and the parser lost it. Else it is the bare name in its canonical container.
    Raises as `find` does for a repeated name, for a missing container, and in a file that has no finer regions.
    """
    found = _matches(map, names)
    if len(found) > 1:
        raise _ambiguous(map, names, found)
    if found:
        return found[0].key
    if lost(map, names) is not None:
        return map.file.key
    container = find(map, names[:-1])
    if not container.is_container or len(map.regions) == 1 or names[-1].text == HEADER:
        raise _unknown(map, names)
    declared = None if names[-1].ordinal else declaring(map, container, names[-1].text)
    return declared.key if declared else container.key.child(Name(names[-1].text))


def lost(map: RegionMap, names: Names) -> str | None:  # noqa: A002
    """Return why a region that is not found may still exist: the parser lost the file; None if it is new."""
    if not names or names[-1].text == HEADER or _undecoded(map) or _matches(map, names):
        return None
    depth = next(at for at in range(1, len(names) + 1) if not _matches(map, names[:at]))
    return why_lost(map, names[depth - 1].text)


def _matches(map: RegionMap, names: Names) -> list[Region]:  # noqa: A002
    key = _key(map, names)
    exact = map.by_key.get(key)
    if exact is not None:
        return [exact]
    found = [region for region in map.by_bare_key.get(key.bare(), ()) if _fits(names, region.key.names)]
    if not found and _is_plain(names):
        found = list(map.by_plain_name.get(plain_name(names), ())) or _declared_beside(map, names)
    return found


def _declared_beside(map: RegionMap, names: Names) -> list[Region]:  # noqa: A002
    """Return the definition whose statement declares a further name."""
    containers = [map.file] if len(names) == 1 else _matches(map, names[:-1]) if names else []
    found = declaring(map, containers[0], names[-1].text) if len(containers) == 1 else None
    return [found] if found is not None and found.is_definition else []


def _is_plain(names: Names) -> bool:
    """Whether names are given without ordinals and parameter types, so that they may be a looser spelling."""
    is_bare = not any(name.ordinal for name in names)
    return is_bare and not any(name.text.endswith(")") for name in names)


def _key(map: RegionMap, names: Names) -> Key:  # noqa: A002
    return Key(map.file.key.scheme, map.file.key.path, names)


def _fits(given: Names, names: Names) -> bool:
    pairs = ((mine.ordinal, theirs.ordinal) for mine, theirs in zip(given, names, strict=False))
    return all(mine in (0, theirs) or (mine, theirs) == (1, 0) for mine, theirs in pairs)


def _undecoded(map: RegionMap) -> Problem | None:  # noqa: A002
    return next((problem for problem in map.problems if problem.code == "ENCODING"), None)


def _unknown(map: RegionMap, names: Names) -> InputError:  # noqa: A002
    wanted = _key(map, names).qualname
    if undecoded := _undecoded(map):
        return InputError(
            Code.ENCODING_INVALID,
            f"{map.path} has no regions: {undecoded.message}",
            hint=f"fix the encoding, or name the whole file, {map.file.key}",
            fields={"path": map.path, "name": wanted},
        )
    near = near_names(map, wanted, 0.5)
    if not map.regions[1:]:
        hint = f"a {map.language} file has no regions here; name the whole file, {map.file.key}"
    elif near:
        hint = f"near names: {', '.join(near)}"
    else:
        hint = f"`commonhold regions {shlex.quote(str(map.file.key))}` lists its regions; or name the whole file"
    return InputError(
        Code.REGION_UNKNOWN,
        f"{map.path} has no region {wanted!r}",
        hint=hint,
        fields={"path": map.path, "name": wanted, "near": near},
    )


def near_names(map: RegionMap, wanted: str, likeness: float) -> list[str]:  # noqa: A002
    """Return up to three names of regions that are like `wanted`, the likest first; a `likeness` of 1 is the same."""
    known = [region.key.qualname for region in map.regions[1:]]
    return get_close_matches(wanted, known, _MOST_SUGGESTIONS, cutoff=likeness)


def _ambiguous(map: RegionMap, names: Names, found: list[Region]) -> InputError:  # noqa: A002
    wanted = _key(map, names).qualname
    choices = [str(region.key) for region in found]
    return InputError(
        Code.REGION_AMBIGUOUS,
        f"{wanted!r} names {len(found)} regions of {map.path}",
        hint=f"name one of {', '.join(choices)}",
        fields={"choices": choices},
    )
