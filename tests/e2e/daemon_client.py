"""A client of the daemon as a process of its own: `daemon_client.py ROOT WHAT AGENT …`. Run by the daemon's tests."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import commonhold
from commonhold import Changeset, Edit, Op
from commonhold.client import daemon


def say(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def stand(root: str, agent: str, key: str, wait_seconds: str, patience_seconds: str = "600") -> None:
    """Wait for a lease when told, say when it is there, and let go of it when told again."""
    with commonhold.open(root, agent=agent, daemon=True) as hold:
        hold.leases()
        say(ready=True)
        sys.stdin.readline()
        answer = hold.acquire(key, wait_seconds=float(wait_seconds), patience_seconds=float(patience_seconds))
        say(outcome=answer.outcome, fence=answer.lease and answer.lease.fence)
        if answer.lease is not None:
            sys.stdin.readline()
            say(outcome=hold.release(answer.lease.id).outcome)


def load(root: str, agent: str, diary: str, stop: str) -> None:
    """Take, write and let go, again and again until the file `stop` is there; write down each answer, say how often."""
    done = 0
    with commonhold.open(root, agent=agent, daemon=True) as hold, Path(diary).open("a") as file:
        while not Path(stop).exists():
            for fact in _round(hold, agent, done):
                file.write(json.dumps(fact) + "\n")
                file.flush()
            done += 1
    say(done=done)


def _round(hold: commonhold.Commonhold, agent: str, number: int) -> list[dict[str, object]]:
    key = f"account:{number % 3}"
    granted = hold.acquire(key, wait_seconds=600.0, ttl_seconds=600.0)
    assert granted.lease is not None, granted
    version = hold.get(key).version
    stored = hold.put(key, f"{agent}-{number}", expected_version=version, fence=granted.lease.fence)
    released = hold.release(granted.lease.id)
    return [
        {"granted": granted.lease.id, "fence": granted.lease.fence},
        {"stored": f"{agent}-{number}", "outcome": stored.outcome},
        {"released": granted.lease.id, "outcome": released.outcome},
    ]


def commit(root: str, agent: str, name: str) -> None:
    """Replace one function of a.py when told, and say what came of it."""
    with commonhold.open(root, agent=agent, daemon=True) as hold:
        (read,) = hold.read(f"a.py#{name}")
        say(ready=True)
        sys.stdin.readline()
        edit = Edit(Op.REPLACE, read.key, read.hash, f"def {name}():\n    return '{agent}'\n")
        answer = hold.commit(Changeset((edit,), intent=f"{agent} changes {name}"))
        say(outcome=answer.outcome, why=answer.why)


def edit(root: str, agent: str, count: str, diary: str) -> None:
    """Add marks to one's own function in two files in turn, and to its parameters now and then; write each down."""
    with commonhold.open(root, agent=agent, daemon=True) as hold, Path(diary).open("a") as file:
        hold.leases()
        say(ready=True)
        sys.stdin.readline()
        for number in range(int(count)):
            mark = f"{agent}-{number}"
            (read,) = hold.read(f"pack/{'ab'[number % 2]}.py#{agent}")
            text = (read.text or "").replace("    return x", f"    x = '{mark}'\n    return x")
            if number % 3 == 2:
                text = text.replace("(x", f"(x, p{number}=0")
            change = Changeset((Edit(Op.REPLACE, read.key, read.hash, text),), intent=mark, request_id=mark)
            file.write(json.dumps({"mark": mark, "outcome": hold.commit(change).outcome}) + "\n")
            file.flush()
    say(done=True)


def direct(root: str, agent: str, key: str) -> None:
    """Write without a daemon until told to stop; say how often it was done.

    It starts none by itself, which it would after its first write: that would race with the daemon of the test.
    """
    done = 0
    with patch.object(daemon, "start"), commonhold.open(root, agent=agent, daemon=True) as hold:
        say(ready=True)
        while not Path(root, f"stop-{agent}").exists():
            version = hold.get(key).version
            done += hold.put(key, str(done), expected_version=version).outcome == "stored"
    say(done=done)


WHAT: dict[str, Callable[..., None]] = {"stand": stand, "load": load, "commit": commit, "edit": edit, "direct": direct}

if __name__ == "__main__":
    repository, what, *words = sys.argv[1:]
    WHAT[what](repository, *words)
