"""The options of a managed session, with their types."""

from collections.abc import Sequence
from typing import TypedDict

from commonhold.kernel.managed_session import Sandbox


class SessionOptions(TypedDict, total=False):
    """The options of a call that starts a managed session; one that is left out has its usual value.

    `base` is the revision that it starts at: by default the commit that is checked out. `setup` prepares the workspace,
    `teardown` is run before its removal, all `checks` must pass after the agent: commands for a shell. A higher
    `priority` (0) goes first among the sessions of a `tenant` (empty). Its agent is ended after `timeout_seconds` (an
    hour), or `silence_seconds` (15 minutes) without output. A session whose supervisor was lost is tried
    `most_attempts` times (3). With `task_id` it works on that task of the queue: it holds its claim while it runs, its
    checks must pass, too, and an empty text means that of the task. In the `sandbox` BUBBLEWRAP its commands can write
    to the workspace only, reach no `network` unless that is true, and see nothing of the home folder but the `exposed`
    paths: absolute ones, which end with `:rw` where they may write.
    All its processes together use at most `memory_bytes` and `cpus` processors, on Linux (0: no limit).
    With the name of a git `remote`, any worker may run it: each has a clone with a remote of that name. The base must
    be there, under `refs/commonhold/commits/HASH`, which `commonhold session start --remote` sees to.
    One that `lands` needs no review, and no `remote`, and starts on the target of its task: once its checks have
    passed, changes that it left are committed under the first line of its task, and its branch enters the merge queue.
    If the queue returns it, it begins again with the repair packet, where its branch ends by then, until it has been
    returned `most_attempts` times.
    """

    base: str
    setup: str
    teardown: str
    checks: Sequence[str]
    priority: int
    tenant: str
    timeout_seconds: float
    silence_seconds: float
    most_attempts: int
    task_id: str
    sandbox: Sandbox
    network: bool
    exposed: Sequence[str]
    memory_bytes: int
    cpus: float
    remote: str
    lands: bool
