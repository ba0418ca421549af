"""Bubblewrap, for machines where it may mount and we may not: everything as it is, but what others hold read-only."""

from collections.abc import Sequence


def prefix(program: str, masked: Sequence[str] = (), kept: Sequence[str] = ()) -> list[str]:
    """What to put before a command, so that it can write all but what is `masked`, and of that what is `kept`.

    All are absolute paths. Capabilities would let root undo it.
    """
    binds = [*(("--ro-bind-try", path) for path in masked), *(("--bind-try", path) for path in kept)]
    places = [word for how, path in binds for word in (how, path, path)]
    return [program, "--dev-bind", "/", "/", *places, "--die-with-parent", "--cap-drop", "ALL", "--"]
