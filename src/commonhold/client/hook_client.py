"""The client that a hook runs: ask the daemon over the private socket, and pass its answer on.

It is started for every tool call (by `hook_program.py`), so it imports next to nothing; only if no daemon answers does
it load more. It never ends in a way that an agent would take for consent, unless its user chose `allow`.
"""

import _socket
import posix
import sys
import time

CHUNK_BYTES = 65_536
SECONDS = 27.0
"""Agents give up on a hook after thirty seconds."""
REVIVAL_SECONDS = 0.3
"""A supervisor restarts a daemon that was killed: a hook waits this long for it before it starts one itself."""
PAUSE_SECONDS = 0.004
BEGINNING_SECONDS = 10.0
"""A hook waits this long for a daemon that was started, before it asks the `commonhold` command for the cause."""
BEGIN_LOCK = 3
"""The descriptor of the lock that the starter of a daemon leaves to it."""
_NEW = posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW
REPLY = b"\r\nx-commonhold-reply: "
SHELLS = frozenset((b"sh", b"bash", b"dash", b"zsh", b"ash", b"ksh", b"fish"))
_ROOT = 0
_CORRELATION = posix.urandom(6).hex()
"""The correlation id of this hook, made as in `machine/correlation.py`, which takes longer to load."""
BLOCKED = 2
FAILED = 1
_BY_USER = "ask your user to run `commonhold doctor` here"

Said = tuple[int, bytes, bytes]
"""The result of a hook: exit status, standard output, standard error."""


class Unanswered(Exception):  # noqa: N818 - it is answered in another way, and never shown
    """No daemon answers, or the connection to it was lost."""


class Rejected(Exception):  # noqa: N818 - as Unanswered
    """The other end does not understand the request, and says why."""


def main(agent: str, address: str, policy: str = "block", seconds: str = str(SECONDS)) -> int:
    """Ask, and pass the answer on; return the exit status."""
    until = time.monotonic() + float(seconds)
    payload = read_all(0)
    process = agent_process(posix.getppid())
    try:
        said = _ask_who_is_there(f"/hooks/{agent}", address, payload, process, until)
    except Unanswered:
        said = _ask_anew(agent, address, payload, policy, process, until - time.monotonic())
    except Rejected as fault:
        said = without_answer(agent, payload, policy, str(fault))
    except TimeoutError:
        said = without_answer(agent, payload, policy, f"its daemon did not answer within {seconds} seconds")
    status, output, complaint = said
    write_all(1, output)
    write_all(2, complaint)
    return status


def _ask_who_is_there(path: str, address: str, payload: bytes, process: str, until: float) -> Said:
    """Ask the running daemon; if there is none, start one and ask it. Raises as `ask`.

    If a daemon was killed, its supervisor is about to start the next one.
    """
    revived_by = time.monotonic() + REVIVAL_SECONDS
    while True:
        now = time.monotonic()
        try:
            return ask(path, address, payload, process, until - now)
        except Unanswered as fault:
            if isinstance(fault.__cause__, FileNotFoundError) or now >= revived_by:
                break
        time.sleep(PAUSE_SECONDS)
    return _begin_and_ask(path, address, payload, process, until)


def _begin_and_ask(path: str, address: str, payload: bytes, process: str, until: float) -> Said:
    """Start a daemon, or wait for one that another hook starts, and ask it. Raises as `ask`."""
    begun = _begin(address)
    until_asked = min(until, time.monotonic() + BEGINNING_SECONDS)
    while (now := time.monotonic()) < until_asked:
        try:
            return ask(path, address, payload, process, until - now)
        except Unanswered:
            ended, status = posix.waitpid(begun, posix.WNOHANG) if begun else (0, 0)
            if status:
                raise  # the `commonhold` command finds out why it has ended, and reports it
            begun = 0 if ended else begun  # another daemon came first
        time.sleep(PAUSE_SECONDS)
    raise Unanswered


def _begin(address: str) -> int:
    """Start a daemon as `client/daemon.py` does, but from here; return its process id, 0 if another hook is about to.

    The starter holds a lock, which the daemon's supervisor takes over: of many hooks at once only one starts it. Raises
    Unanswered if only the `commonhold` command can start it: a first use, an unusual place.
    """
    import fcntl  # noqa: PLC0415 - most hooks never need it

    place, state = _place_of(address), address.rpartition("/")[0]
    try:
        if not place or posix.lstat(state).st_uid != posix.geteuid():
            raise Unanswered
        lock = posix.open(f"{state}/daemon.begin", posix.O_RDWR | _NEW, 0o600)
        log = posix.open(f"{state}/daemon.log", posix.O_WRONLY | posix.O_APPEND | _NEW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return _spawned(place[1], log, lock)
        except BlockingIOError:
            return 0
        finally:
            posix.close(lock)
            posix.close(log)
    except (OSError, NotImplementedError) as fault:
        raise Unanswered from fault


def _spawned(root: str, log: int, lock: int) -> int:
    """Return the process of a supervisor with its lock at `BEGIN_LOCK`, in a session of its own."""
    if min(log, lock) < BEGIN_LOCK:  # the program that started this hook has closed a standard stream
        raise Unanswered
    command = [sys.executable, "-I", "-m", "commonhold.server.daemon.supervisor", root]
    actions = [
        (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
        *((posix.POSIX_SPAWN_DUP2, log, stream) for stream in (1, 2)),
        (posix.POSIX_SPAWN_DUP2, lock, BEGIN_LOCK),
    ]
    # A daemon that an agent of a managed session starts is no process of that session, and must not end with it.
    environment = {name: value for name, value in posix.environ.items() if name != b"COMMONHOLD_SESSION"}
    return posix.posix_spawn(sys.executable, command, environment, file_actions=actions, setsid=True)


def ask(path: str, address: str, payload: bytes, process: str, seconds: float) -> Said:
    """Post to the daemon, and return its answer. Raises Unanswered, Rejected, TimeoutError."""
    if seconds <= 0:  # this process was suspended until its time was up: a socket takes no such timeout
        raise TimeoutError
    head = (
        f"POST {path} HTTP/1.1\r\nhost: commonhold\r\nconnection: close\r\n"
        f"x-commonhold-process: {process}\r\nx-commonhold-correlation: {_CORRELATION}\r\n"
        f"content-length: {len(payload)}\r\n\r\n"
    )
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(address)
        if not (_place_of(address) or is_of_this_user(connection)):
            raise Rejected("what listens at its socket belongs to another user of this machine")
        connection.sendall(head.encode() + payload)
        answer = _heard(connection)
    except TimeoutError:
        raise
    except OSError as fault:
        raise Unanswered from fault
    finally:
        connection.close()
    return _read(answer)


def is_of_this_user(connection: "_socket.socket") -> bool:
    """Whether the other end belongs to the user of this process, or to root; True if the system cannot say.

    A socket outside of the repository is in a folder that any user could have made while no daemon ran.
    """
    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) in (posix.geteuid(), _ROOT)


def _heard(connection: "_socket.socket") -> bytes:
    parts = []
    while part := connection.recv(CHUNK_BYTES):
        parts.append(part)
    return b"".join(parts)


def _read(answer: bytes) -> Said:
    head, _, body = answer.partition(b"\r\n\r\n")
    words = (head + b"\r\n").lower()
    is_whole = b"\r\ncontent-length: %d\r\n" % len(body) in words
    if not is_whole:
        raise Unanswered
    if not head.startswith(b"HTTP/1.1 200 ") or REPLY not in words:
        raise Rejected(body.decode(errors="replace").strip() or "something else answers at its socket")
    return parted(words.partition(REPLY)[2].partition(b"\r\n")[0], body)


def parted(form: bytes, body: bytes) -> Said:
    """Split an answer by its form (the status, and the length of the output) into its consecutive parts."""
    status, length = map(int, form.split())
    return status, body[:length], body[length:]


def _ask_anew(agent: str, address: str, payload: bytes, policy: str, process: str, seconds: float) -> Said:
    """Let the `commonhold` command start the daemon and ask it."""
    import subprocess  # noqa: PLC0415 - most hooks never need it

    command = [sys.executable, "-I", "-m", "commonhold", "hook", agent, "--framed", "--when-down", policy]
    command += ["--seconds", f"{seconds:.3f}", "--process", process, *_place_of(address)]
    try:
        done = subprocess.run(command, input=payload, capture_output=True, timeout=seconds + 1, check=False)  # noqa: S603
        form, _, body = done.stdout.partition(b"\n")
        if not form:
            return without_answer(agent, payload, policy, _unstarted(_last_line(done.stderr)))
        return parted(form, body)
    except subprocess.TimeoutExpired:
        why = "its daemon did not start in time, as happens on a very busy machine"
        return without_answer(agent, payload, policy, why, f"try again in a moment; if it stays so, {_BY_USER}")
    except (OSError, ValueError) as fault:
        return without_answer(agent, payload, policy, _unstarted(str(fault)))


def _unstarted(why: str) -> str:
    return f"it cannot be started, and may be installed no more ({why})"


def _last_line(complaint: bytes) -> str:
    """Return the last line of a program's error output: of a traceback it is the error."""
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it says nothing"


def _place_of(address: str) -> list[str]:
    """Return the arguments that name the repository, if the address of its socket reveals it."""
    for ending in ("/.git/commonhold/http.sock", "/.commonhold/http.sock"):
        if address.endswith(ending):
            return ["-C", address.removesuffix(ending) or "/"]
    return []


def without_answer(agent: str, payload: bytes, policy: str, why: str, step: str = _BY_USER) -> Said:
    """Return the answer of a hook that could not ask the daemon, as the policy wants it; `step` is the next one."""
    message = f"Commonhold could not be asked: {why}."
    if policy == "allow":
        told = f"{message} This goes on without it, since when_down = allow."
        if agent in ("claude", "codex", "gemini", "vscode"):
            return 0, _json(systemMessage=told), b""
        return 0, b"", told.encode()
    if not _is_about_to_act(payload):
        return FAILED, b"", message.encode()
    next_step = f" Nothing is written meanwhile. Next: {step}."
    denial = {"permissionDecision": "deny", "permissionDecisionReason": message + next_step}
    if agent == "copilot" and b'"toolName"' in payload:  # for an exit status it shows its model no more than the number
        return 0, _json(**denial), b""
    if agent == "claude" and b'"PreToolUse"' in payload:  # with an exit status it shows its model the whole command
        return 0, _json(hookSpecificOutput={"hookEventName": "PreToolUse", **denial}), b""
    return BLOCKED, b"", (message + next_step).encode()


def _json(**shape: object) -> bytes:
    import json  # noqa: PLC0415 - most hooks never need it

    return json.dumps(shape).encode()


def _is_about_to_act(payload: bytes) -> bool:
    """Whether a tool waits for the answer; assumed unless the payload shows otherwise."""
    import json  # noqa: PLC0415 - most hooks never need it

    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        return True
    if not isinstance(told, dict):
        return True
    event = told.get("hook_event_name")
    if isinstance(event, str):
        return event.lower() in ("pretooluse", "beforetool", "permissionrequest", "beforeshellexecution")
    return "toolResult" not in told


def agent_process(pid: int) -> str:
    """Return an id of this agent process, unique on this machine: its process id, and its start time.

    A shell is not the agent. Empty if the system does not reveal it.
    """
    try:
        for _ in range(4):
            name, parent, began = _process(pid)
            if name not in SHELLS:
                return f"{pid}:{began}"
            pid = parent
    except (OSError, ValueError, IndexError):
        return ""
    return ""


def _process(pid: int) -> "tuple[bytes, int, int]":
    """Return the name of a process, its parent, and its start time."""
    descriptor = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        text = posix.read(descriptor, 4096)
    finally:
        posix.close(descriptor)
    name, _, rest = text.partition(b"(")[2].rpartition(b")")
    fields = rest.split()
    return name, int(fields[1]), int(fields[19])


def read_all(descriptor: int) -> bytes:
    """All that can be read."""
    parts = []
    while part := posix.read(descriptor, CHUNK_BYTES):
        parts.append(part)
    return b"".join(parts)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[posix.write(descriptor, data) :]
