"""Draw the pictures of docs/dashboard.md: `make dashboard-pictures`.

The agents are scripted; the server, the browser and all that it shows are real.
"""

import argparse
import io
import re
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rich.console import Console
from tests.e2e.browser import Page, browser
from tests.e2e.cli_driver import make_repository
from tests.e2e.served import Server, served

from commonhold import Changeset, Commonhold, Edit, Op, Task
from commonhold.cli.top_view import drawn
from commonhold.kernel.scopes import Scope
from commonhold.tasks.answers import TaskAction
from commonhold.views.overview import Overview
from commonhold.workspace import tokens

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGES: Final = {"now": (1180, 860, False), "run": (1180, 700, True)}
ALL: Final = (
    *("now", "tasks", "sessions", "run", "map", "queue", "landing", "inbox", "archive", "file/src%2Fbilling.py"),
)
SIZES: Final = {"light": (1180, 860, False), "dark": (1180, 860, True), "phone": (390, 844, False)}
_FONTS: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_FILES: Final = {"billing": 5, "checkout": 4, "report": 4, "mail": 3, "stock": 6}
_LIVE: Final = "document.querySelector('.link')?.dataset.state === 'live'"


def main() -> None:
    """Write the pictures into docs/, or all pages in all sizes into a folder."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--all", metavar="FOLDER", type=Path, help="draw every page, light, dark and on a phone")
    folder: Path | None = options.parse_args().all
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as open_:
        root = make_repository(Path(scratch) / "shop")
        server = open_.enter_context(served(root))
        overview = _play(server, open_)
        page = open_.enter_context(browser(Path(scratch) / "profile"))
        _, text = tokens.issue(str(server.state), Scope.ADMIN, time.time(), ttl=600.0, is_once=True)
        page.open(f"{server.url}/#{text}")
        page.until(_LIVE)
        if folder is None:
            for name, size in PAGES.items():
                _draw(page, name, size, DOCS / f"dashboard-{name}.png")
            (DOCS / "dashboard-top.svg").write_text(_terminal(overview), encoding="utf-8")
        else:
            folder.mkdir(exist_ok=True)
            for name in ALL:
                for mode, size in SIZES.items():
                    _draw(page, name, size, folder / f"{name.partition('/')[0]}-{mode}.png")


def _draw(page: Page, name: str, size: tuple[int, int, bool], path: Path) -> None:
    width, height, is_dark = size
    page.size(width, height, is_dark=is_dark)
    # From another page, so that this one is drawn for its size.
    for each in ("tasks" if name == "queue" else "queue", name):
        page.run(f"location.hash = '#/{each}'")
        page.until(f"document.querySelector('main').dataset.page === '{each.partition('/')[0]}'")
    time.sleep(0.5)
    page.picture(path)
    print(f"wrote {path}")


def _terminal(overview: Overview) -> str:
    """Return the view in a terminal as SVG, without the fonts that Rich would have it fetch."""
    console = Console(record=True, width=110, file=io.StringIO(), force_terminal=True)
    console.print(drawn(overview))
    return _FONTS.sub("", console.export_svg(title="commonhold top"))


def _change(session: Commonhold, key: str, old: str, new: str, intent: str) -> None:
    (region,) = session.read(key)
    assert region.text is not None
    session.commit(Changeset((Edit(Op.REPLACE, region.key, region.hash, region.text.replace(old, new)),), intent))


def _play(server: Server, open_: ExitStack) -> Overview:
    """Let agents work, wait, collide and leave work behind; return the overview at the end."""
    source = server.root / "src"
    source.mkdir()
    for name, count in _FILES.items():
        functions = [f"def {name}_{number}(value):\n    return value + {number}\n" for number in range(count)]
        (source / f"{name}.py").write_text("\n\n".join(functions), encoding="utf-8")
    sessions = {
        "claude:26baef9a": "Add a discount in percent to the bill",
        "claude:7c11d0e4": "Round totals to cents, and format them for the report",
        "codex:019a4f": "Send receipts by mail",
        "gemini:5d20": "Speed up the count of the stock",
        "claude:a1b2c3d4": "Whole euros in the report",
        "codex:02b7": "Describe discounts in the guide",
    }
    made = {name: open_.enter_context(server.connect(name)) for name in sessions}
    for name, intent in sessions.items():
        made[name].start_session(name)
        made[name].set_intent(intent)
    bill, total, mail, stock, euros, guide = made.values()
    bill.add_tasks(
        Task("price", "discount on the bill", keys=("src/billing.py#billing_1",)),
        Task("apply", "the checkout applies discounts", needs=("price",), priority=5),
        Task("round", "totals in cents"),
        Task("mail", "receipts by mail", needs=("price", "round")),
        Task("bench", "measure the stock", most_attempts=1),
    )
    bill.claim_task("price")
    for session, task, action, note in (
        (total, "round", TaskAction.UNCHANGED, "they were in cents"),
        (stock, "bench", TaskAction.FAIL, "the bench needs a network"),
    ):
        claim = session.claim_task(task)
        assert claim.lease
        session.change_task(task, action, fence=claim.lease.fence, note=note)
    gone = open_.enter_context(server.connect("codex:00ff"))
    gone.acquire("src/mail.py#mail_2", task="new template of the receipt", ttl_seconds=2)
    _replace(source / "mail.py", "value + 2", "receipt(value)")
    bill.acquire("src/billing.py#billing_1", "src/billing.py#billing_2", task="discount")
    total.acquire("src/report.py", task="format totals", ttl_seconds=900)
    time.sleep(1.0)
    mail.acquire("src/billing.py#billing_2", task="the receipt shows the discount", patience_seconds=600)
    stock.acquire("src/stock.py#stock_3", task="count once")
    _change(stock, "src/stock.py#stock_3", "value + 3", "len(value)", "count once")
    euros.acquire("src/report.py#report_1", task="whole euros")
    _change(bill, "src/billing.py#billing_1", "value + 1", "value * 2", "discount in percent")
    time.sleep(1.0)
    _change(euros, "src/report.py#report_2", "value + 2", "int(value)", "whole euros")
    _change(total, "src/report.py#report_1", "value + 1", "round(value, 2)", "round to cents")
    euros.end_turn()
    guide.end_turn()
    time.sleep(1.0)
    bill.sweep()
    return bill.overview()


def _replace(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


if __name__ == "__main__":
    main()
