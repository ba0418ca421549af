"""The meaning of each setting: shown by `commonhold config NAME`, and in the reference."""

from typing import Final

MEANINGS: Final = {
    "ttl_seconds": "How long a lease lasts unless it says otherwise, in seconds; at most 30 days.",
    "max_file_bytes": "Larger files can be leased, but are not read or written.",
    "event_days": "How long events are kept at least before retention compacts them. 0: for ever.",
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
    "reads": "The treatment of new text that uses code whose body another session changed since the author read it: "
    "`notice`, the author gets a notice, or `check`, the text is refused until its author has read the code again; "
    "for all keys, or as a table by key.",
    "suspicion": "The treatment of a change that may affect other code, as far as names alone can tell: `escalate`, "
    "its author must lease that code first; `tests`, the affected tests decide; or `notice`, its author gets a "
    "notice; for all keys, or as a table by key.",
    "types": "`on`: the installed type checkers check each change before it is made, and their new errors count: ty "
    "for Python (`pip install 'commonhold[types]'`), TypeScript 7 for TypeScript and JavaScript (`tsc` on the PATH). "
    "`off`: no type checker runs.",
    "index": "`on`: ten seconds after its start the daemon has all files read by a process of the lowest priority, for "
    "at most ten minutes of one processor, so that the first `impact`, `check` or judgement across files finds them "
    "read. `off`: they are read when that is asked.",
    "tests": "The command that runs the tests that a change may concern, with `{tests}` for their files, in a copy of "
    "the working tree. A user chooses it, by `COMMONHOLD_TESTS`; no repository does.",
    "ignore": "Patterns, as in `.gitignore`, of paths that hooks and watchers ignore. The file `.commonholdignore` at "
    "the root has more, and decides first; a path that neither names is ignored if git ignores it.",
    "writable": "Has no effect any more: agents' shell commands can write every folder.",
    "shell": "The treatment of agents' shell commands: `sandbox`, files that others hold are read-only to them; "
    "`watch`, their changes are examined afterwards; `off`, neither.",
    "when_down": "The answer of hooks while no daemon answers: `block`, if the agent can be blocked, or `allow`, with "
    "a notice.",
    "release": "How long the regions that an agent's own tool edited stay leased to it: to the end of its `turn`, or "
    "of each `edit`.",
    "idle_seconds": "How long it stays leased, at most, after the agent's last sign of life.",
    "offer_tasks": "Whether Claude Code or Codex, when its turn ends, is offered the best free task, once, if it has "
    "claimed a task before, holds none now, and owes nothing.",
    "max_sessions": "How many managed sessions run at once. 0: none is begun.",
    "max_reviews": "How many managed sessions may await review before no more are begun.",
    "workspaces": "The folder of the workspaces of managed sessions; empty: `~/.local/state/commonhold/workspaces`. A "
    "user chooses it, by `COMMONHOLD_WORKSPACES`; no repository does.",
    "overlays": "Whether the workspaces of managed sessions are overlay mounts: `auto`, if the repository has "
    "thousands of files and the machine can mount them; `always`, or a session fails; or `never`.",
    "broker": "The Redis or RabbitMQ that wakes workers when a session is started, such as `redis://HOST` or "
    "`amqp://USER:PASSWORD@HOST`; empty: they look every five seconds. A user chooses it, by `COMMONHOLD_BROKER`; no "
    "repository does.",
    "tenants": "A table by tenant of limits of its running sessions together, on all machines that share the store, "
    'as `[tenants.acme]` with `max_sessions = 3`, `memory = "8g"`, `cpus = 4`; `[tenants."*"]` is for all tenants that '
    "are not named, and for sessions without one. With a quota of memory or processors each session must give its own "
    "`--memory` or `--cpus`.",
    "session_image": "The image of the containers of sessions with `--sandbox docker`, which is never pulled; empty: "
    "an empty one, in which the programs of this machine are seen.",
    "capabilities": "A table of the words for what sessions can do, by pattern of their names, as "
    '`"claude:*" = ["review"]`. A task that requires such words is given only to sessions that have all of them.',
    "log": "The least severe records in the daemon's log: `debug`, `info`, `warning` or `error`. The daemon reads it "
    "when it starts. `COMMONHOLD_LOG` also makes commands log to standard error.",
}
