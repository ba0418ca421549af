"""Bubblewrap, for machines where it may mount and we may not: others' files read-only, everything else as it is."""

from collections.abc import Sequence


def prefix(program: str, masked: Sequence[str] = (), kept: Sequence[str] = ()) -> list[str]:
    """Return the prefix of a command with which it can write all but `masked` paths, and the `kept` paths in those.

    All are absolute paths. Capabilities would let root undo it.
    """
    binds = [*(("--ro-bind-try", path) for path in masked), *(("--bind-try", path) for path in kept)]
    places = [word for how, path in binds for word in (how, path, path)]
    return [program, "--dev-bind", "/", "/", *places, "--die-with-parent", "--cap-drop", "ALL", "--"]
