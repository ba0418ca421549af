"""The meaning of each setting: shown by `commonhold config NAME`, and in the reference."""

from typing import Final

MEANINGS: Final = {
    "ttl_seconds": "How long a lease lasts unless it says otherwise, in seconds; at most 30 days.",
    "max_file_bytes": "Larger files can be leased, but are not read or written.",
    "retention_days": "How long the bytes that were read or overwritten are kept. 0: until the next prune.",
    "patience_seconds": "How long a place in line from `acquire --queue` lasts without being asked for.",
    "store": "Where leases and values are kept: `sqlite:FOLDER`, `postgresql://HOST/DATABASE`, `redis://HOST`. Empty: "
    "beside the repository. Several machines that name the same share them.",
    "namespace": "The name that a shared store keeps this repository's leases under. Empty: that of its folder.",
    "daemon": "Whether one process serves the repository, started by itself on first use.",
    "durability": "`full`, or `normal`, to measure what full costs: after a loss of power the last grants may be gone "
    "then, and their fences given out again.",
    "policies": "A table of keys: `pessimistic` ones may be changed under an exclusive lease only; all others are "
    "`optimistic`. A key stands for all that is in it; the innermost decides.",
    "merge": "Whether an edit whose base has moved may be merged: `proven`, where that is shown to be right, or "
    "`never`; for all keys, or as a table by key.",
    "reads": "What becomes of new text that uses code whose body another changed since its author read it: `notice`, "
    "the author is told, or `check`, it is refused until it is read again; for all keys, or as a table by key.",
    "suspicion": "What becomes of a change that may concern others of whom only a name tells: `escalate`, whoever "
    "makes it leases them first, `tests`, the tests that it may concern decide, or `notice`, it is told; for all keys, "
    "or as a table by key.",
    "types": "`on`: type checkers that are found are asked what they newly say of a change, before it is made: ty for "
    "Python (`pip install 'commonhold[types]'`), TypeScript 7 for TypeScript and JavaScript (`tsc` on the PATH). "
    "`off`: none is asked.",
    "index": "`on`: ten seconds after its start the daemon has all files read by a process of the lowest priority, for "
    "at most ten minutes of one processor, so that the first `impact`, `check` or judgement across files finds them "
    "read. `off`: they are read when that is asked.",
    "tests": "The command that runs the tests that a change may concern, with `{tests}` for their files, in a copy of "
    "the working tree. A user chooses it, by `COMMONHOLD_TESTS`; no repository does.",
    "ignore": "Patterns, as in `.gitignore`, of paths that are nobody's concern: no hook, no watcher looks at them. "
    "The file `.commonholdignore` at the root holds more, and decides first; what neither names is ignored where git "
    "ignores it.",
    "writable": "Has no effect any more: agents' shell commands can write every folder.",
    "shell": "What becomes of agents' shell commands: `sandbox`, what others hold is read-only to them; `watch`, what "
    "they changed is looked at afterwards; `off`, nothing.",
    "when_down": "What hooks do with what nobody could judge, since no daemon answers: `block`, where the agent can be "
    "blocked, or `allow`, and say so.",
    "release": "How long what an agent's own tool edited stays leased to it: to the end of its `turn`, or of each "
    "`edit`.",
    "idle_seconds": "How long it stays leased, at most, after the agent's last sign of life.",
    "log": "The least severe records in the daemon's log: `debug`, `info`, `warning` or `error`. The daemon reads it "
    "when it starts. `COMMONHOLD_LOG` also makes commands log to standard error.",
}
