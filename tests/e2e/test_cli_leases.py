"""Leases that others want, values, and what is left half done: what each command does and says."""

import json
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call, Outcome
from tests.e2e.test_cli_commands import next_words

from commonhold.client.opening import open_session
from commonhold.kernel.write_slots import slot_of

pytestmark = pytest.mark.slow

NEW_ONE = b"def one():\n    return os.linesep\n"


def lease_of(outcome: Outcome) -> str:
    found: str = outcome.json["lease"]["id"]
    return found


def test_a_place_in_line_is_told_with_the_call_that_keeps_it(run: Call) -> None:
    run("acquire", "a.py#one", "--task", "rewrite")
    queued = run("acquire", "a.py", "--queue", "--agent", "ben", "--task", "tidy", "--patience", "60")
    assert queued.status == 1, "a place in line is no lease"
    assert queued.text.startswith("queued: number 1 in line, for about 30 min  ticket lease-")
    words = next_words(queued.text)
    again = run(*words, "--json").json
    assert (again["outcome"], again["position"], again["ticket"]) == ("queued", 1, words[words.index("--ticket") + 1])
    third = run("acquire", "a.py", "--queue", "--agent", "cat").text
    assert "file:a.py is wanted by ben, exclusive, before you in line" in third


def test_who_waits_is_listed_wherever_one_looks(run: Call) -> None:
    run("acquire", "a.py#one")
    ticket = run("acquire", "a.py", "--queue", "--agent", "ben", "--task", "tidy", "--json").json["ticket"]
    for words in (("leases",), ("leases", "--holder", "ben"), ("status",), ("who", "a.py")):
        told = run(*words)
        assert f"  {ticket}  exclusive  ben  queued " in told.text, words
        (waiter,) = run(*words, "--json").json["waiters"]
        assert (waiter["ticket"], waiter["task"]) == (ticket, "tidy")
    assert run("who", "a.py#two").text.count("ben") == 1
    assert run("who", "b.py", "--json").json["waiters"] == []


def test_a_session_is_listed_by_its_short_name_and_found_by_either(run: Call) -> None:
    holder = "claude:26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50"
    run("acquire", "a.py#one", "--agent", holder)
    for words in (("leases",), ("leases", "--holder", holder), ("leases", "--holder", "claude:26baef9a")):
        assert "  exclusive  claude:26baef9a  ends " in run(*words).text, words
        (lease,) = run(*words, "--json").json["leases"]
        assert lease["holder"] == holder
    denied = run("acquire", "a.py#one", "--agent", "ben")
    assert "file:a.py#one is held by claude:26baef9a, exclusive" in denied.text
    assert holder not in denied.text


def test_what_is_just_being_written_is_told_as_that(root: Path, run: Call) -> None:
    run("acquire", str(slot_of(str(root), "a.py")))
    for words in (("leases",), ("status",), ("log",)):
        told = run(*words).text
        assert "slot:" not in told, words
    assert "  a.py is being written" in run("leases").text
    assert "slot:" not in json.dumps(run("status", "--json").json)


def test_whose_turn_it_is_has_the_lease_and_is_told_what_changed(run: Call) -> None:
    lease = lease_of(run("acquire", "a.py#one", "account:1", "--json"))
    ticket = run("acquire", "a.py#one", "account:1", "--queue", "--agent", "ben", "--json").json["ticket"]
    base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    run("commit", "--key", "a.py#one", "--base", base, "--intent", "lines", stdin=NEW_ONE)
    run("put", "account:1", "frozen", "--expect", "0")
    run("release", lease)
    assert "(granted from the line, not yet taken)" in run("leases").text
    granted = run("acquire", "account:1", "a.py#one", "--ticket", ticket, "--agent", "ben")
    assert granted.status == 0
    assert "changed while you waited (read it again):" in granted.text
    assert 'ann: "lines"' in granted.text
    assert "  account:1  version " in granted.text
    assert "    frozen\n" in granted.text


def test_leaving_the_line(run: Call) -> None:
    run("acquire", "a.py")
    ticket = run("acquire", "a.py", "--queue", "--agent", "ben", "--json").json["ticket"]
    assert run("release", ticket, "--agent", "ben").text == "cancelled: the place in line was given up\n"
    assert run("release", ticket, "--agent", "ben").status == 1


def test_waiting_in_vain(run: Call) -> None:
    run("acquire", "a.py")
    denied = run("acquire", "a.py", "--wait", "0.1", "--agent", "ben")
    assert denied.status == 1
    assert "it was not free within 0.1 seconds" in denied.text
    assert next_words(denied.text) == ["acquire", "file:a.py", "--wait", "0.1", "--agent", "ben"]
    assert run("leases", "--json").json["waiters"] == []


def test_a_ticket_is_for_one_wish(run: Call) -> None:
    run("acquire", "a.py")
    ticket = run("acquire", "a.py", "--queue", "--agent", "ben", "--json").json["ticket"]
    refused = run("acquire", "b.py", "--ticket", ticket, "--agent", "ben")
    assert refused.status == 2
    assert "ask again with the very keys and mode" in refused.err


def test_an_upgrade_takes_the_place_of_the_lease(run: Call) -> None:
    lease = lease_of(run("acquire", "a.py#one", "--mode", "upgradable", "--json"))
    assert run("acquire", "a.py#one", "--mode", "shared", "--agent", "ben").status == 0
    assert run("acquire", "a.py#one", "--mode", "upgradable", "--agent", "cat").status == 1
    assert run("acquire", "a.py#one", "--replace", lease).status == 1
    run("release", lease_of_holder(run, "ben"), "--agent", "ben")
    upgraded = run("acquire", "a.py#one", "--replace", lease, "--json").json["lease"]
    assert [each["id"] for each in run("leases", "--json").json["leases"]] == [upgraded["id"]]
    gone = run("acquire", "a.py#one", "--replace", lease)
    assert "denied [LEASE_LOST]: nothing was leased" in gone.text
    assert "notice: there is no live lease" in gone.text


def lease_of_holder(run: Call, holder: str) -> str:
    found: str = run("leases", "--holder", holder, "--json").json["leases"][0]["id"]
    return found


def test_a_circle_is_refused_with_what_to_release(run: Call) -> None:
    run("acquire", "x:1")
    mine = lease_of(run("acquire", "x:2", "--agent", "ben", "--json"))
    run("acquire", "x:2", "--queue")
    denied = run("acquire", "x:1", "--wait", "5", "--agent", "ben")
    assert "denied [DEADLOCK]: " in denied.text
    assert next_words(denied.text) == ["release", mine, "--agent", "ben"]


def test_asking_is_heard_with_the_next_answer(run: Call) -> None:
    lease = lease_of(run("acquire", "a.py", "--json"))
    asked = run("ask", lease, "--why", "I wait for it", "--agent", "ben")
    assert asked.text == f"asked: {lease}  ann gets the request with its next answer\n"
    assert '  ben asks for its release: "I wait for it"\n' in run("leases").text
    assert "notice: ben asks you to release" in run("renew", lease).text
    assert "notice: ben asks you to release" in run("acquire", "x:1").text
    assert run("ask", lease, "--why", " ", "--agent", "ben").status == 2
    assert run("ask", lease).status == 2
    assert run("ask", "lease-none", "--why", "it is late").status == 1


def test_handing_over(run: Call) -> None:
    lease = lease_of(run("acquire", "a.py", "--json"))
    assert run("hand-over", lease, "--to", "ben").text == f"handed over: {lease}  fence 2 of ben\n"
    refused = run("release", lease)
    assert refused.text.startswith("refused [NOT_HOLDER]: ")
    run("acquire", "a.py#one", "--agent", "ben")
    between = run("hand-over", lease, "--to", "cat", "--agent", "ben")
    assert between.text.startswith("refused [LOCK_CONFLICT]: other leases, on file:a.py#one, would stand against")
    assert "  file:a.py: file:a.py#one, inside it, is held by ben" in between.text


def test_a_forced_end_is_on_the_record_and_refuses_the_late_writer(run: Call) -> None:
    granted = run("acquire", "a.py#one", "--task", "rewrite", "--json").json["lease"]
    done = run("break", granted["id"], "--reason", "its machine is gone", "--agent", "boss")
    assert done.text == f'ended by force: {granted["id"]}  of ann: "rewrite"\n'
    log = run("log").text
    assert f'lease_broken       ann  {granted["id"]} by boss: "its machine is gone"' in log
    assert "nothing was left half done" in log
    base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    lease = f"{granted['id']}:{granted['fence']}"
    late = run("commit", "--key", "a.py#one", "--base", base, "--lease", lease, stdin=NEW_ONE)
    assert (late.status, "[LEASE_LOST]" in late.text) == (1, True)
    assert run("break", granted["id"], "--reason", "again", "--agent", "boss").status == 1
    assert run("break", granted["id"]).status == 2
    told = " ".join(run("break", "--help").text.split())
    assert "The log records your name, the time and the reason." in told
    assert "kept for review" in told


def test_values_come_and_go(run: Call) -> None:
    nothing = run("get", "account:1")
    assert (nothing.status, nothing.out, nothing.err) == (0, b"", "account:1  version 0: nothing was ever put here\n")
    assert run("put", "account:1", "frozen", "--expect", "0").text == "stored: account:1  version 1\n"
    one = run("get", "account:1")
    assert one.out == b"frozen"
    assert one.err.startswith("account:1  version 1  by ann  ")
    assert run("put", "account:1", "-", "--expect", "1", stdin="zwei\nZeilen ü".encode()).status == 0
    assert run("get", "account:1").out == "zwei\nZeilen ü".encode()
    several = run("get", "account:1", "account:2").text
    assert "\n  zwei\n  Zeilen ü\naccount:2  version 0" in several
    assert run("put", "account:1", "--delete", "--expect", "2").status == 0
    deleted = run("get", "account:1")
    assert (deleted.out, deleted.err.rstrip().endswith(": nothing")) == (b"", True)
    assert [each["version"] for each in run("get", "account:1", "account:2", "--json").json["values"]] == [3, 0]
    assert "account:1 carries nothing any more" in run("log").text


def test_a_stale_value_is_refused_with_what_is_there(run: Call) -> None:
    run("put", "account:1", "frozen", "--expect", "0")
    refused = run("put", "account:1", "open", "--expect", "0", "--agent", "ben")
    assert refused.status == 1
    assert refused.text.startswith("refused [VERSION_CHANGED]: account:1 has version 1, not 0\ncurrent values:\n")
    assert "the current value (above)" in refused.text
    assert next_words(refused.text) == ["get", "account:1", "--agent", "ben"]
    relying = run("put", "order:1", "open", "--expect", "0", "--read", "account:1=0")
    assert relying.text.startswith("refused [READ_CHANGED]: ")
    assert next_words(relying.text) == ["get", "order:1", "account:1"]
    run("acquire", "account:1", "--agent", "ben")
    held = run("put", "account:1", "open", "--expect", "1")
    assert "  account:1 is held by ben" in held.text
    assert next_words(held.text) == ["acquire", "account:1", "--wait", "60"]
    assert run("put", "account:1", "open", "--expect", "1", "--fence", "7").text.startswith("refused [LEASE_LOST]: ")


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (("put", "x:1", "y"), 2, "--expect is missing"),
        (("put", "x:1", "--expect", "0"), 2, "VALUE is missing"),
        (("put", "x:1", "y", "--expect", "0", "--delete"), 2, "--delete takes no VALUE"),
        (("put", "x:1", "y", "--expect", "-1"), 2, "-1"),
        (("put", "x:1", "y", "--expect", "0", "--read", "z:1"), 2, "is not KEY=VERSION"),
        (("put", "x:1", "-", "--expect", "0"), 3, "not valid UTF-8"),
        (("put", "a.py", "y", "--expect", "0"), 3, "is a file"),
        (("get", "a.py"), 3, "is a file"),
    ],
)
def test_a_value_that_cannot_be(words: tuple[str, ...], status: int, why: str, run: Call) -> None:
    done = run(*words, stdin=b"\xff")
    assert (done.status, why in done.err) == (status, True), done


def test_a_value_cannot_steer_a_terminal(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    run("put", "x:1", "-", "--expect", "0", stdin=b"a\x1b[2J")
    monkeypatch.setattr("commonhold.cli.get.is_terminal", lambda: True)
    assert run("get", "x:1").out == b"a\\x1b[2J\n"
    assert "\x1b" not in run("get", "x:1", "x:2").text


def test_a_commit_may_rely_on_a_value(run: Call) -> None:
    run("put", "account:1", "frozen", "--expect", "0")
    edit = {"op": "create_file", "key": "b.py", "text": "x = 1\n"}
    changeset = {"edits": [edit], "reads": [{"key": "account:1", "hash": "0"}]}
    refused = run("commit", "--changeset", "-", stdin=json.dumps(changeset).encode())
    assert refused.text.startswith("refused [READ_CHANGED]: ")
    assert "    frozen\n" in refused.text
    assert "(above)" in refused.text
    changeset["reads"] = [{"key": "account:1", "hash": "1"}]
    assert run("commit", "--changeset", "-", stdin=json.dumps(changeset).encode()).status == 0


def test_what_is_pessimistic_is_held_first(root: Path, run: Call) -> None:
    (root / "commonhold.toml").write_text('[policies]\n"a.py#one" = "pessimistic"\n"account:*" = "pessimistic"\n')
    base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    commit = ("commit", "--key", "a.py#one", "--base", base, "--intent", "lines")
    refused = run(*commit, stdin=NEW_ONE)
    assert refused.text.startswith(
        "refused [LEASE_REQUIRED]: file:a.py#one may be changed under an exclusive lease only\n"
    )
    assert "lines are counted" not in refused.text
    assert run(*next_words(refused.text)).status == 0
    assert run(*commit, stdin=NEW_ONE).status == 0
    value = run("put", "account:1", "frozen", "--expect", "0")
    assert value.text.startswith("refused [LEASE_REQUIRED]: ")
    assert run(*next_words(value.text)).status == 0
    assert run("put", "account:1", "frozen", "--expect", "0").status == 0
    assert "a.py#one pessimistic, account:* pessimistic" in run("doctor").text


def half_done(root: Path, run: Call) -> str:
    """A lease that was lost with work under it."""
    lease = lease_of(run("acquire", "a.py#one", "logo.bin", "--task", "rewrite", "--json"))
    text = (root / "a.py").read_text(encoding="utf-8")
    (root / "a.py").write_text(text.replace("os.sep", "half"), encoding="utf-8")
    (root / "logo.bin").write_bytes(b"\x00\xff")
    run("break", lease, "--reason", "its machine is gone", "--agent", "boss")
    return lease


def test_work_that_was_left_is_shown_and_closed_once(root: Path, run: Call) -> None:
    lease = half_done(root, run)
    for words in (("status",), ("review",), ("sweep",)):
        told = run(*words)
        assert told.status == 0
        assert f"  {lease}  ann  found " in told.text
        assert next_words(told.text) == ["review", "show", lease]
        assert [each["lease_id"] for each in run(*words, "--json").json["works"]] == [lease]
    shown = run("review", "show", lease)
    assert "-    return os.sep\n+    return half\n" in shown.text
    assert "binary: 0 bytes became 2" in shown.text
    kept = shown.text.split("the previous content is kept: commonhold show ")[1].splitlines()[0]
    assert run("show", kept).out == b"def one():\n    return os.sep\n"
    assert next_words(shown.text) == ["review", "resolve", lease, "--note", "WHAT-YOU-DID"]
    assert run("review", "resolve", lease).status == 2, "somebody has to say what was done"
    diffs = [each["diff"] for each in run("review", "show", lease, "--json").json["changes"]]
    assert "+    return half" in diffs[0]
    assert run("review", "resolve", lease, "--note", "finished it").text == f"reviewed: {lease} of ann\n"
    assert b"half" in (root / "a.py").read_bytes()
    assert run("review").text == "nothing waits for review\n"
    for closing in (("review", "resolve", lease, "--note", "again"), ("review", "show", lease)):
        again = run(*closing)
        assert (again.status, next_words(again.text)) == (1, ["review"])
        assert run(*closing, "--json").json["outcome"] == "refused"
    assert "work_reviewed      ann" in run("log").text


def test_a_file_that_was_deleted_under_its_author_is_offered(root: Path, run: Call) -> None:
    (root / "made.py").write_text("x = 1\n", encoding="utf-8")
    with open_session(str(root), agent="claude:26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50") as one:
        one.record_external_writes({"made.py": None}, intent="the new module")
        (root / "made.py").unlink()
        one.record_external_changes(["made.py"], intent="by a person")
    told = run("review").text
    assert "lost: deleted outside of any session" in told
    assert "  made.py  gone " in told
    assert 'written by claude:26baef9a: "the new module"' in told
    (lost,) = run("review", "--json").json["lost"]
    assert (lost["path"], lost["holder"]) == ("made.py", one.holder)
    assert run(*next_words(told)).status == 0
    assert (root / "made.py").read_text(encoding="utf-8") == "x = 1\n"
    assert run("review").text == "nothing waits for review\n"


def test_what_is_not_kept_any_more_is_told(root: Path, run: Call) -> None:
    lease = half_done(root, run)
    (root / "commonhold.toml").write_text("retention_days = 0\n", encoding="utf-8")
    run("doctor", "--prune")
    assert "the bytes are not kept any more" in run("review", "show", lease).text


def test_long_differences_are_cut(root: Path, run: Call) -> None:
    lease = lease_of(run("acquire", "a.py", "--json"))
    (root / "a.py").write_text("".join(f"x{number} = 1\n" for number in range(500)), encoding="utf-8")
    run("break", lease, "--reason", "its machine is gone")
    assert " more lines\n" in run("review", "show", lease).text


@pytest.mark.parametrize("words", [("review",), ("review", "show", "lease-1"), ("status",), ("get", "x:1"), ("sweep",)])
def test_who_only_looks_needs_no_name(words: tuple[str, ...], run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT")
    assert run(*words).status in (0, 1)


@pytest.mark.parametrize(
    "words", [("ask", "l", "--why", "w"), ("break", "l", "--reason", "r"), ("hand-over", "l", "--to", "t"),
              ("put", "x:1", "y", "--expect", "0"), ("review", "resolve", "l", "--note", "n")]
)  # fmt: skip
def test_who_does_something_is_named(words: tuple[str, ...], run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT")
    assert "[HOLDER_MISSING]" in run(*words).err


def test_leases_can_be_kept_elsewhere(run: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = f"sqlite:{tmp_path / 'elsewhere'}"
    granted = run("acquire", "x:1", "--store", store)
    assert next_words(granted.text)[-2:] == ["--store", store]
    assert run("leases", "--json").json["leases"] == []
    assert len(run("leases", "--store", store, "--json").json["leases"]) == 1
    monkeypatch.setenv("COMMONHOLD_STORE", store)
    assert len(run("leases", "--json").json["leases"]) == 1
    assert f"store = sqlite://{tmp_path / 'elsewhere'}" in run("doctor").text
    assert run("leases", "--store", "nonsense:1").status in (2, 3)


def test_a_password_is_not_repeated(run: Call) -> None:
    told = run("doctor", "--store", "redis://me:secret@localhost:1/0")
    assert told.status == 4
    assert "secret" not in told.text + told.err
    assert "redis://localhost/0" in told.text
