"""The dashboard in a real browser: one visit to every page, with hostile texts in all that agents write."""

import json
import time
from pathlib import Path
from typing import Final

import pytest
from tests.e2e.branches import asked
from tests.e2e.browser import Page, browser
from tests.e2e.cli_driver import git, make_repository
from tests.e2e.served import Server, served

from commonhold import Task
from commonhold.kernel.scopes import Scope
from commonhold.tasks.answers import TaskAction
from commonhold.workspace import tokens

pytestmark = pytest.mark.slow
HOSTILE: Final = "<script>window.owned=1</script><img src=x onerror='window.owned=1'>"
LATIN: Final = b"# coding: latin-1\ncaf\xe9 = 'caf\xe9'\r\n"
LIVE: Final = "document.querySelector('.link')?.dataset.state === 'live'"
PAGES: Final = {
    "now": "Agents at work",
    "tasks": "Which task needs which",
    "sessions": "queued",
    "run": "Held now",
    "map": "filter",
    "queue": "Who waits for whom",
    "landing": "Why it waits",
    "inbox": "decision",
    "archive": "note",
    "file/a.py": "def one",
}


def link(server: Server) -> str:
    _, text = tokens.issue(str(server.state), Scope.ADMIN, time.time(), ttl=600.0, is_once=True)
    return f"{server.url}/#{text}"


def work(server: Server) -> None:
    """Let agents whose every text is hostile hold, wait, collide, fail, and leave work unfinished."""
    with server.connect("ann") as ann, server.connect(HOSTILE[:60]) as ben, server.connect("gone") as gone:
        for each in (ann, ben):
            each.start_session("process")
            each.set_intent(HOSTILE)
        for path in ("b.py", "c.py", "made.py"):
            gone.acquire(path, task=path, ttl_seconds=1)
            (server.root / path).write_text(f"# {HOSTILE}\n", encoding="utf-8")
        for path in ("lost.py", "latin.py"):
            gone.acquire(path, task=path, ttl_seconds=1)
        (server.root / "lost.py").unlink()
        (server.root / "latin.py").write_bytes(b"# begun\n" + LATIN)
        ann.acquire("a.py#one", "file:<img src=x>.py", f"x:{HOSTILE[:20]}", task=HOSTILE)
        ben.acquire("a.py#one", task=HOSTILE)
        ben.acquire("a.py", task=HOSTILE, patience_seconds=600)
        ann.add_tasks(Task("t", HOSTILE, most_attempts=1), Task("u", HOSTILE, intent=HOSTILE, needs=("t",)))
        claim = ben.claim_task("t")
        assert claim.lease
        ben.change_task("t", TaskAction.FAIL, fence=claim.lease.fence, note=HOSTILE)
        made = asked(server.root, "commit-tree", "-p", "HEAD", "-m", HOSTILE, "HEAD^{tree}")
        git(server.root, "branch", "hostile", made)
        ann.enqueue("hostile", session="<img>", checks=(HOSTILE,))
        time.sleep(1.1)
        ann.sweep()
    with server.connect("ann", Scope.ADMIN) as admin:
        admin.start_managed_session(HOSTILE, agent="true {prompt_file}")


def press(page: Page, title: str, label: str) -> None:
    """Press a button of a decision, once it is there; wait until the page says that it is done."""
    card = f"[...document.querySelectorAll('article')].find(each => each.querySelector('h3').innerText === {title!r})"
    button = f"[...({card})?.querySelectorAll('button') ?? []].find(each => each.innerText.startsWith({label!r}))"
    # One script: the page may redraw the button between two.
    clear = "document.querySelector('aside').replaceChildren()"
    page.until(f"(button => button && ({clear}, button.click(), true))({button})")
    page.until("document.querySelector('.notice.good')")


def visit(page: Page) -> None:
    """Visit every page at the width of a phone, and look for what it runs."""
    page.size(390, 844)
    for name, words in PAGES.items():
        page.run(f"location.hash = '#/{name}'")
        page.until(f"document.querySelector('main').dataset.page === '{name.partition('/')[0]}'")
        assert words in page.run("document.querySelector('main').innerHTML")
        assert not page.run("/commits?,\\s*$/m.test(document.querySelector('main').innerText)")
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than a phone"
        assert page.run("document.querySelectorAll('main script, main img, main [onerror]').length") == 0
    page.run("location.hash = '#/inbox/%'")
    page.until("document.querySelector('main').dataset.page === 'inbox'")
    page.size(800, 860)
    assert page.run("[...document.querySelectorAll('nav a')].every(each => each.getBoundingClientRect().right <= 800)")


def add_up(page: Page) -> None:
    """Add up the usage of attempts by days; those that used nothing, or have not ended, are left out."""
    ends = {"one": 1_790_000_000, "same": 1_790_000_060, "later": 1_790_300_000}
    usage = {"tokens_in": 1_500, "tokens_out": 40, "cost": 0.5, "tokens_cached": 0}
    nothing = dict.fromkeys(usage, 0)
    attempts = [{"ended_at": each, "usage": usage} for each in ends.values()]
    records = [{"attempts": [*attempts, {"ended_at": 1, "usage": nothing}, {"ended_at": None, "usage": usage}]}]
    script = "import('/dashboard/sessions.js').then(({ days, used }) => days(%s).map(([, sum, n]) => [used(sum), n]))"
    assert page.run(script % json.dumps(records)) == [
        ["1.5K tokens in, 40 out, $0.50", 1],
        ["3K tokens in, 80 out, $1.00", 2],
    ]


def search(page: Page) -> None:
    """Find a note whose text is hostile."""
    page.run("location.hash = '#/archive'")
    page.until("document.querySelector('main form')")
    page.run("document.querySelector('main input').value = 'discount'; document.querySelector('form').requestSubmit()")
    page.until("document.querySelector('main').innerText.includes('window.owned=1')")
    assert page.run("document.querySelectorAll('main script, main img').length") == 0


def decide(page: Page, server: Server) -> None:
    """Approve one unfinished work, discard the others, and reopen the failed task."""
    page.run("window.confirm = () => true; location.hash = '#/inbox'")
    press(page, "b.py", "Approve")
    for path in ("c.py", "made.py", "lost.py", "latin.py"):
        press(page, path, "Discard")
    page.run("[...document.querySelectorAll('input')].forEach(each => { each.value = 'a reason' })")
    press(page, HOSTILE, "Reopen")
    page.until("document.querySelector('main').innerText.includes('Nothing waits for you')")
    with server.connect("ann") as ann:
        assert ann.partial_works() == ()
        assert ann.tasks("t").tasks[0].record.note == "a reason"
    assert (server.root / "b.py").read_text(encoding="utf-8") == f"# {HOSTILE}\n"
    for path in ("c.py", "lost.py"):
        assert (server.root / path).read_text(encoding="utf-8") == "x = 1\n"
    assert (server.root / "latin.py").read_bytes() == LATIN
    assert not (server.root / "made.py").exists()


def land(page: Page, server: Server) -> None:
    """Remove an entry of the merge queue with a reason, and add it again."""
    page.run("location.hash = '#/landing'")
    page.until("document.querySelector('main input')")
    page.run("document.querySelector('main input').value = 'not <b>yet</b>'")
    press(page, "hostile", "Remove")
    page.until("document.querySelector('main').innerText.includes('Came back')")
    assert "No process lands" not in page.run("document.querySelector('main').innerText")
    press(page, "hostile", "Try it again")
    page.until("document.querySelector('main').innerText.includes('Why it waits')")
    with server.connect("ann") as ann:
        first, second = (each.record for each in ann.entries(all_states=True).entries)
    assert (first.state, first.note) == ("returned", "not <b>yet</b>")
    assert (second.state, second.entry.commit, second.entry.checks) == ("queued", first.entry.commit, (HOSTILE,))


def test_every_page_shows_the_state_and_runs_nothing_that_agents_wrote(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work")
    for path in ("b.py", "c.py", "lost.py"):
        (root / path).write_text("x = 1\n", encoding="utf-8")
    (root / "latin.py").write_bytes(LATIN)
    (root / "note.md").write_text(f"# Prices\n\n## discount\n\n{HOSTILE}\n", encoding="utf-8")
    (root / "commonhold.toml").write_text("max_sessions = 0\n", encoding="utf-8")
    with served(root) as server:
        work(server)
        with browser(tmp_path / "profile") as page:
            page.open(link(server))
            page.until(LIVE)
            assert "chd_" not in page.run("location.href")
            visit(page)
            add_up(page)
            search(page)
            decide(page, server)
            land(page, server)
            with server.connect("ann") as ann:
                page.run("location.hash = '#/now'")
                ann.acquire("x:live", task="seen at once")
                page.until("document.querySelector('main').innerText.includes('x:live')")
            assert page.run("window.owned") is None
            assert page.run("document.cookie") == ""
            assert page.complaints == []
            page.open(f"{server.url}/")
            page.until(LIVE)
            page.leave("document.querySelector('.link a').click()")
            page.until("document.querySelector('form.sign-in')")
            assert [each.label for each in tokens.tokens(str(server.state)) if each.label == "browser"] == []
