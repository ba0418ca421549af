"""The docs site is built from docs/ without a warning: each page is in its menu, each link leads somewhere."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from shutil import copy, copytree
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "zensical.toml"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a folder, as `make docs` does."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    copytree(ROOT / "docs", folder / "docs")
    copy(CONFIG, folder)
    done = build(folder)
    assert done.returncode == 0, done.stdout
    return folder / "build/site"


def named(menu: object) -> Iterator[str]:
    """The pages in a menu, in its order."""
    if isinstance(menu, str):
        yield menu
    else:
        assert isinstance(menu, dict | list)
        for each in menu.values() if isinstance(menu, dict) else menu:
            yield from named(each)


class Page(HTMLParser):
    """The anchors of a page, and the addresses that it names, whatever element names them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.addresses: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif name in ("href", "src"):
                self.addresses.add(value or "")


def target_of(page: Path, address: str) -> Path:
    """The file that a server sends for an address on a page."""
    target = (page.parent / address).resolve() if address else page
    return target / "index.html" if target.is_dir() else target


def test_every_page_is_in_the_menu() -> None:
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")}
    menu = list(named(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]))

    assert set(menu) == pages
    assert len(menu) == len(pages)


def test_every_link_leads_to_a_page_and_an_anchor_in_it(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}
    links = [(path, urlsplit(address)) for path, page in pages.items() for address in page.addresses]
    inside = [
        (path, target_of(path, unquote(link.path)), link.fragment)
        for path, link in links
        if not link.scheme and not link.netloc
    ]

    assert len(inside) > 1000
    assert [(path.name, target) for path, target, _ in inside if not target.is_file()] == []
    assert [
        (path.name, target.name, fragment)
        for path, target, fragment in inside
        if target in pages and unquote(fragment) not in pages[target].anchors
    ] == []


def test_blocks_of_code_with_names_are_blocks(site: Path) -> None:
    assert [path.name for path in site.rglob("*.html") if "```" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("link", ["nowhere.md", "#nowhere"])
def test_a_broken_link_ends_the_build(link: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(f"# One page\n\n[A link]({link})\n", encoding="utf-8")
    text = CONFIG.read_text(encoding="utf-8")
    menu = text[text.index("nav = [") : text.index("[project.theme]")]
    (tmp_path / CONFIG.name).write_text(text.replace(menu, ""), encoding="utf-8")

    done = build(tmp_path)

    assert done.returncode != 0
    assert "does not exist" in done.stdout + done.stderr
