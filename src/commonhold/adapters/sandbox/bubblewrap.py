"""Bubblewrap, for kernels without Landlock: everything as it is, but the working trees read-only."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonhold.adapters.sandbox import mounts


@dataclass(frozen=True, slots=True)
class Bounds:
    """Nothing below `protected` may be written but what is `writable`, and of that nothing that is `masked`.

    All are absolute paths.
    """

    protected: Sequence[str] = ()
    writable: Sequence[str] = ()
    masked: Sequence[str] = ()


def prefix(program: str, bounds: Bounds) -> list[str]:
    """What to put before a command. The later a bind, the more it says; capabilities would let root undo them."""
    inside = tuple(f"{path}/" for path in bounds.masked)
    binds = [
        *(("--ro-bind", path) for path in bounds.protected),
        *(("--bind-try", path) for path in bounds.writable),
        *(("--bind-try", path) for path in mounts.ways(bounds.writable, bounds.masked)),
        *(("--ro-bind-try", path) for path in bounds.masked),
        *(("--bind-try", path) for path in bounds.writable if path.startswith(inside)),
    ]
    places = [word for how, path in binds for word in (how, path, path)]
    return [program, "--dev-bind", "/", "/", *places, "--die-with-parent", "--cap-drop", "ALL", "--"]
