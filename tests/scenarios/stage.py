"""Where a story takes place: a real repository, the real store, a clock that only `advance` moves."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import CountingIds, FakeClock
from tests.scenarios.script import Line
from tests.scenarios.telling import quoted, short, tell

from commonhold.api.service import Service
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.use_cases import Surroundings
from commonhold.index.index import SqliteIndex
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op, Read
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.keys import Key, parse
from commonhold.kernel.modes import Mode
from commonhold.kernel.options import Options
from commonhold.kernel.policy import Merging, Policies, Policy, Rereading, Suspicion
from commonhold.kernel.ports import Step, no_step
from commonhold.kernel.values import Version
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import Repository, find_repository

MAIN = "main"
CRASHED = 9


@dataclass
class Stage:
    """`names` are what a story bound with `as`: the hash or version that was read, or the lease or place in line."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    names: dict[str, str | LeaseRef] = field(default_factory=dict)
    policies: dict[Key, Policy] = field(default_factory=dict)
    merging: dict[Key, Merging] = field(default_factory=dict)
    rereading: dict[Key, Rereading] = field(default_factory=dict)
    suspicions: dict[Key, Suspicion] = field(default_factory=dict)
    sees_all_files: bool = False
    services: dict[tuple[str, str], Service] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.joinpath(MAIN).mkdir()
        _git(self.folder / MAIN, "init", "-q", "-b", "main")

    def run(self, line: Line) -> list[str]:
        """Run one command; what it prints. `who@tree verb …` is said by an agent, anything else by the story."""
        verb, *rest = line.words
        if verb in _STORY:
            return _STORY[verb](self, line, *rest)
        speech, *said = rest
        holder, _, tree = verb.partition("@")
        try:
            return _SPEECH[speech](self, line, self.service(holder, tree or MAIN), *said)
        except CommonholdError as fault:
            return tell(fault)

    def service(self, holder: str, tree: str = MAIN) -> Service:
        """The agent's own access, with a store of its own: agents are processes that share nothing in memory."""
        if (holder, tree) not in self.services:
            self.services[holder, tree] = self.opened(holder, tree, no_step)
        return self.services[holder, tree]

    def opened(self, holder: str, tree: str, at_step: Step) -> Service:
        found = find_repository(str(self.folder / tree))
        return Service(
            store=SqliteStore(found.state_folder, synchronous="OFF"),
            files=WorkingTree(found.root, git_dir=found.git_dir, max_file_bytes=10_000, at_step=at_step),
            clock=self.clock,
            ids=self.ids,
            agent=holder,
            options=Options(retention_seconds=86400.0, policies=self._policies),
            surroundings=Surroundings(see=lambda: self._insight(found) if self.sees_all_files else None),
            at_step=at_step,
        )

    @property
    def _policies(self) -> Policies:
        return Policies(self.policies, self.merging, self.rereading, self.suspicions)

    @staticmethod
    def _insight(found: Repository) -> Insight:
        return Insight(SqliteIndex(found.state_folder, found.root, Git(found.root), processes=1))

    def path(self, name: str) -> Path:
        """`a.py` in the main working tree, `tree@a.py` in another."""
        tree, at, path = name.rpartition("@")
        return self.folder / (tree if at else MAIN) / path

    def close(self) -> None:
        for service in self.services.values():
            service.close()


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=story", "-c", "user.email=story@example.org")
    subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)


# What the story does, outside of Service.


def _file(stage: Stage, line: Line, name: str) -> list[str]:
    path = stage.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_bytes(line))
    if "mode" in line.options:
        path.chmod(int(line.options["mode"], 8))
    return []


def _bytes(line: Line) -> bytes:
    if "hex" in line.options:
        return bytes.fromhex(line.options["hex"])
    text = line.text or ""
    if line.options.get("newline") == "crlf":
        text = text.replace("\n", "\r\n")
    data = text.encode(line.options.get("encoding", "utf-8"))
    return data.removesuffix(b"\n") if line.options.get("final_newline") == "no" else data


def _remove(stage: Stage, _: Line, name: str) -> list[str]:
    stage.path(name).unlink()
    return []


def _link(stage: Stage, line: Line, name: str) -> list[str]:
    stage.path(name).symlink_to(line.options["to"])
    return []


def _worktree(stage: Stage, _: Line, name: str) -> list[str]:
    _git(stage.folder / MAIN, "add", "-A")
    _git(stage.folder / MAIN, "commit", "-q", "-m", "all")
    _git(stage.folder / MAIN, "worktree", "add", "-q", str(stage.folder / name))
    return []


def _advance(stage: Stage, _: Line, seconds: str) -> list[str]:
    stage.clock.advance(float(seconds.removesuffix("s")))
    return []


def _reboot(stage: Stage, _: Line) -> list[str]:
    stage.clock.reboot()
    return []


def _policy(stage: Stage, _: Line, pattern: str, word: str) -> list[str]:
    """Choose a policy; whoever speaks from now on goes by it."""
    if word in list(Merging):
        stage.merging[parse(pattern).key()] = Merging(word)
    elif word in list(Rereading):
        stage.rereading[parse(pattern).key()] = Rereading(word)
    else:
        stage.policies[parse(pattern).key()] = Policy(word)
    stage.close()
    stage.services.clear()
    return []


def _all_files(stage: Stage, _: Line) -> list[str]:
    """Whoever speaks from now on sees what a commit means for other files."""
    stage.sees_all_files = True
    stage.close()
    stage.services.clear()
    return []


def _suspicion(stage: Stage, _: Line, pattern: str, word: str) -> list[str]:
    """Choose what becomes of what only a name tells."""
    stage.suspicions[parse(pattern).key()] = Suspicion(word)
    stage.close()
    stage.services.clear()
    return []


def _cat(stage: Stage, _: Line, name: str) -> list[str]:
    path = stage.path(name)
    if not path.exists():
        return [f"{name} is not there"]
    data = path.read_bytes()
    try:
        return list(quoted(data.decode()))
    except UnicodeDecodeError:
        return [repr(data)[1:]]


def _ls(stage: Stage, _: Line, name: str = "") -> list[str]:
    root = stage.path(name)
    found = (path for path in sorted(root.rglob("*")) if ".git" not in path.parts)
    return [_entry(path, root) for path in found if path.is_symlink() or path.is_file()]


def _entry(path: Path, root: Path) -> str:
    kind = "link" if path.is_symlink() else f"{path.stat().st_mode & 0o777:o}"
    return f"{kind} {path.relative_to(root)}"


def _show(stage: Stage, line: Line, what: str) -> list[str]:
    return _SHOWS[what](stage.service("story"), line)


def _show_leases(service: Service, _: Line) -> list[str]:
    return [text for lease in service.leases() for text in tell(lease)]


def _show_debts(service: Service, _: Line) -> list[str]:
    return [text for debt in service.status().debts for text in tell(debt)]


def _show_line(service: Service, _: Line) -> list[str]:
    return [text for waiter in service.status().waiters for text in tell(waiter)]


def _show_works(service: Service, _: Line) -> list[str]:
    return [text for work in service.status().works for text in tell(work)]


def _show_log(service: Service, line: Line) -> list[str]:
    events = service.log(after=int(line.options.get("after", "0")))
    return [f"{each.sequence} {text}" for each in events for text in tell(each.event)]


_SHOWS: dict[str, Callable[[Service, Line], list[str]]] = {
    "leases": _show_leases,
    "line": _show_line,
    "works": _show_works,
    "debts": _show_debts,
    "log": _show_log,
}

_STORY: dict[str, Callable[..., list[str]]] = {
    "file": _file,
    "remove": _remove,
    "link": _link,
    "worktree": _worktree,
    "advance": _advance,
    "reboot": _reboot,
    "policy": _policy,
    "all-files": _all_files,
    "suspicion": _suspicion,
    "cat": _cat,
    "ls": _ls,
    "show": _show,
}

# What the agents say.


def _read(stage: Stage, _: Line, service: Service, key: str, *name: str) -> list[str]:
    (region,) = service.read(key)
    _bind(stage, name, region.hash)
    return tell(region)


def _saw(_stage: Stage, _line: Line, service: Service, *keys: str) -> list[str]:
    return [short(f"{region.key} {region.hash}") for region in service.record_read(*keys)]


def _news(_stage: Stage, _line: Line, service: Service) -> list[str]:
    return [line for each in service.news() for line in each.notice.split("\n")]


def _acquire(stage: Stage, line: Line, service: Service, *words: str) -> list[str]:
    keys, name = _split(words)
    options = line.options
    answer = service.acquire(
        *keys,
        task=options.get("task", ""),
        ttl_seconds=float(options["ttl"]) if "ttl" in options else None,
        mode=Mode(options.get("mode", "exclusive")),
        request_id=options.get("request"),
        patience_seconds=float(options["patience"]) if "patience" in options else None,
        ticket=_lease_id(stage, options["ticket"]) if "ticket" in options else None,
        replaces=_lease_id(stage, options["replaces"]) if "replaces" in options else None,
        slots=int(options.get("slots", 0)),
        once="once" in options,
    )
    if answer.lease:
        _bind(stage, name, LeaseRef(answer.lease.id, answer.lease.fence))
    elif answer.ticket:
        _bind(stage, name, LeaseRef(answer.ticket, 0))
    return tell(answer)


def _split(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (words[:-2], words[-2:]) if "as" in words else (words, ())


def _bind(stage: Stage, name: tuple[str, ...], value: str | LeaseRef) -> None:
    if name:
        stage.names[name[-1]] = value


def _lease_id(stage: Stage, name: str) -> str:
    return _lease_ref(stage, name).id


def _lease_ref(stage: Stage, text: str) -> LeaseRef:
    """`L`, or `L!7` with another fence, or the id of a lease that never was."""
    name, _, fence = text.partition("!")
    bound = stage.names.get(name, LeaseRef(name, 0))
    assert isinstance(bound, LeaseRef)
    return LeaseRef(bound.id, int(fence)) if fence else bound


def _renew(stage: Stage, line: Line, service: Service, name: str) -> list[str]:
    options = line.options
    return tell(
        service.renew(
            _lease_id(stage, name), ttl_seconds=float(options.get("ttl", "1800")), request_id=options.get("request")
        )
    )


def _release(stage: Stage, line: Line, service: Service, name: str) -> list[str]:
    options = line.options
    result = options.get("result")
    return tell(service.release(_lease_id(stage, name), request_id=options.get("request"), result=result))


def _ask(stage: Stage, line: Line, service: Service, name: str) -> list[str]:
    return tell(service.ask(_lease_id(stage, name), why=line.options["why"]))


def _hand_over(stage: Stage, line: Line, service: Service, name: str, *bound: str) -> list[str]:
    answer = service.hand_over(_lease_id(stage, name), to=line.options["to"])
    if answer.lease:
        _bind(stage, bound, LeaseRef(answer.lease.id, answer.lease.fence))
    return tell(answer)


def _break(stage: Stage, line: Line, service: Service, name: str) -> list[str]:
    return tell(service.break_lease(_lease_id(stage, name), reason=line.options["reason"]))


def _get(stage: Stage, _: Line, service: Service, key: str, *name: str) -> list[str]:
    value = service.get(key)
    _bind(stage, name, str(value.version))
    return tell(value)


def _put(stage: Stage, line: Line, service: Service, key: str, text: str | None = None) -> list[str]:
    """Let a key carry a text; without one, nothing any more."""
    options = line.options
    return tell(
        service.put(
            key,
            text,
            expected_version=_version(stage, options["expect"]),
            fence=_lease_ref(stage, options["fence"]).fence if "fence" in options else None,
            reads=[Version(part.words[1], _version(stage, part.options["on"])) for part in line.parts],
            request_id=options.get("request"),
        )
    )


def _version(stage: Stage, text: str) -> int:
    """A version that was bound, or the number itself."""
    bound = stage.names.get(text, text)
    assert isinstance(bound, str)
    return int(bound)


def _review(stage: Stage, line: Line, service: Service, name: str) -> list[str]:
    return tell(service.review(_lease_id(stage, name), note=line.options.get("note", "")))


def _waive(_stage: Stage, line: Line, service: Service, *keys: str) -> list[str]:
    return tell(service.waive(*keys, note=line.options.get("note", "")))


def _notice(_stage: Stage, _line: Line, service: Service, *paths: str) -> list[str]:
    """What the watcher of the daemon reports of files that another program wrote."""
    answer = service.record_external_changes(paths or None)
    return [short(f"{answer.outcome} {each.key} {each.hash}") for each in answer.regions] or [answer.outcome]


def _sweep(_stage: Stage, _line: Line, service: Service) -> list[str]:
    service.sweep()
    return []


def _content(_stage: Stage, _line: Line, service: Service, content_hash: str) -> list[str]:
    """Bytes that were kept, by the digits that a story shows of their hash."""
    return list(quoted(service.content(content_hash).decode()))


def _who(_stage: Stage, _line: Line, service: Service, key: str) -> list[str]:
    return tell(service.who(key))


def _commit(stage: Stage, line: Line, service: Service, *flags: str) -> list[str]:
    changeset = _changeset(stage, line, service)
    if "crash" in line.options:
        return _crash(stage, service, changeset, line.options["crash"])
    if "meanwhile" in line.options:
        return _meanwhile(stage, service, changeset, line)
    return tell(service.commit(changeset, dry_run="dry" in flags))


def _changeset(stage: Stage, line: Line, service: Service) -> Changeset:
    options = line.options
    leases = options["lease"].split(",") if "lease" in options else []
    return Changeset(
        edits=tuple(_edit(stage, part, service) for part in line.parts if part.words[0] != "relies"),
        intent=options.get("intent", ""),
        request_id=options.get("request"),
        leases=tuple(_lease_ref(stage, name) for name in leases),
        merge=options.get("merge") != "no",
        reads=tuple(
            Read(part.words[1], _hash(stage, service, part.words[1], part.options["on"]))
            for part in line.parts
            if part.words[0] == "relies"
        ),
    )


def _edit(stage: Stage, part: Line, service: Service) -> Edit:
    op, key = part.words
    options = part.options
    return Edit(
        op=Op(op),
        key=key,
        base=_hash(stage, service, key, options["base"]) if "base" in options else None,
        text=part.text,
        after=options.get("after"),
        to=options.get("to"),
        mode=options.get("mode"),
        span=int(options["span"]) if "span" in options else None,
        data=bytes.fromhex(options["hex"]) if "hex" in options else None,
    )


def _hash(stage: Stage, service: Service, key: str, text: str) -> str:
    """`now` is the hash that is there now; a name is one that was bound; else the digits themselves."""
    if text == "now":
        return service.read(key)[0].hash
    bound = stage.names.get(text, text)
    assert isinstance(bound, str)
    return bound


def _crash(stage: Stage, service: Service, changeset: Changeset, step: str) -> list[str]:
    """Let a process commit, and die at once after a step."""

    def die(done: str) -> None:
        if done == step:
            os._exit(CRASHED)

    pid = os.fork()
    if pid == 0:
        stage.opened(service.holder, Path(service.root).name, die).commit(changeset)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return [f"crashed after {step!r}" if status == CRASHED else f"did not crash: {status}"]


def _meanwhile(stage: Stage, service: Service, changeset: Changeset, line: Line) -> list[str]:
    """Let somebody write a file, or remove a folder, from outside after a step of the commit; once."""
    step, _, path = line.options["meanwhile"].partition(":")
    pending = [stage.path(path.removeprefix("rm "))]

    def interfere(done: str) -> None:
        if done == step and pending:
            target = pending.pop()
            shutil.rmtree(target) if path.startswith("rm ") else target.write_bytes(_bytes(line))

    with stage.opened(service.holder, Path(service.root).name, interfere) as other:
        return tell(other.commit(changeset))


_SPEECH: dict[str, Callable[..., list[str]]] = {
    "read": _read,
    "saw": _saw,
    "news": _news,
    "acquire": _acquire,
    "renew": _renew,
    "release": _release,
    "ask": _ask,
    "hand-over": _hand_over,
    "break": _break,
    "get": _get,
    "put": _put,
    "review": _review,
    "waive": _waive,
    "notice": _notice,
    "sweep": _sweep,
    "content": _content,
    "commit": _commit,
    "who": _who,
}
__all__ = ["Stage", "short"]
