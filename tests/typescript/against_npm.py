"""TypeScript's own language server, as npm brings it, on a small project: `make test-types` installs and asks it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from commonhold.code.type_checkers import TypeReport
from commonhold.typecheck import Patience, ServerChecker
from commonhold.typecheck.servers import TYPESCRIPT

INSTALLED = Path(__file__).parents[2] / ".venv" / "typescript" / "node_modules" / ".bin"
ENVIRONMENT = os.environ | {"PATH": f"{INSTALLED}{os.pathsep}{os.environ['PATH']}"}
FILES = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "nodenext", "jsx": "preserve", "checkJs": true}}',
    "package.json": '{"type": "module", "dependencies": {"lodash": "4"}}',
    "src/prices.ts": "export function price(item: string): number {\n  return item.length\n}\n",
    "src/shop.ts": 'import { price } from "./prices.js"\n\nexport const sold = price("x")\n',
    "src/page.tsx": 'import { sold } from "./shop.js"\n\nexport const text: number = sold\n',
    "src/old.js": 'import { price } from "./prices.js"\n\nprice(3)\n',
}
WITH_SCALE = b"export function price(item: string, scale: number): number {\n  return item.length * scale\n}\n"
MISSING = "Expected 2 arguments, but got 1."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def checker(root: Path) -> Iterator[ServerChecker]:
    made = ServerChecker(TYPESCRIPT, str(root), ENVIRONMENT, patience=Patience(60, 60))
    yield made
    made.close()


def said(report: TypeReport) -> list[str]:
    assert report.why == ""
    assert report.checker.startswith("typescript 7.")
    return [f"{one.path}:{one.line} {one.message}" for one in report.new]


def test_a_changed_signature_is_an_error_at_its_callers(checker: ServerChecker) -> None:
    also = ["src/shop.ts", "src/old.js", "src/page.tsx"]
    expected = [f"src/old.js:3 {MISSING}", f"src/shop.ts:3 {MISSING}"]
    assert said(checker.compare({"src/prices.ts": WITH_SCALE}, also)) == expected
    mended = {"src/prices.ts": WITH_SCALE, "src/shop.ts": FILES["src/shop.ts"].replace('"x"', '"x", 2').encode()}
    assert said(checker.compare(mended, ["src/old.js"])) == expected[:1]
    assert said(checker.compare({"src/prices.ts": FILES["src/prices.ts"].encode()}, also)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"src/rates.ts": b"export const rate = 1\n", "src/shop.ts": b'import { rate } from "./rates.js"\nrate.x\n'},
            "src/shop.ts:2 Property 'x'",
        ),
        ({"src/prices.ts": None}, "src/shop.ts:1 Cannot find module './prices.js'"),
        ({"src/prices.ts": None, "src/costs.ts": WITH_SCALE}, "src/shop.ts:1 Cannot find module './prices.js'"),
        ({"src/deep/new.ts": b'import { sold } from "../shop.js"\nsold.x\n'}, "src/deep/new.ts:2 Property 'x'"),
    ],
    ids=["created", "deleted", "renamed", "in a new folder"],
)
def test_files_that_come_and_go(checker: ServerChecker, changes: Mapping[str, bytes | None], expected: str) -> None:
    (found,) = said(checker.compare(changes, ["src/shop.ts"]))
    assert found.startswith(expected)


def test_what_others_do_on_disk_is_seen(checker: ServerChecker, root: Path) -> None:
    use = {"src/shop.ts": b'import { price } from "./prices.js"\nprice("x", 2)\n'}
    assert len(said(checker.compare(use))) == 1
    (root / "src" / "prices.ts").write_bytes(WITH_SCALE)
    assert said(checker.compare(use)) == []
    (root / "src" / "rates.ts").write_text("export const rate = 1\n")
    assert said(checker.compare({"src/shop.ts": b'import { rate } from "./rates.js"\nrate + 1\n'})) == []


def test_nothing_is_fetched_for_a_project_that_lacks_its_types(root: Path) -> None:
    npm, log = root / "bin" / "npm", root / "npm.log"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\necho $@ >> {log}\n")
    npm.chmod(0o755)
    (root / "tsconfig.json").unlink()
    environment = ENVIRONMENT | {"PATH": f"{npm.parent}{os.pathsep}{ENVIRONMENT['PATH']}"}
    watched = ServerChecker(TYPESCRIPT, str(root), environment, patience=Patience(60, 60))
    use = {"src/old.js": b'import _ from "lodash"\n_.map(1)\n'}
    assert watched.compare(use).checker
    assert watched.compare(use | {"src/shop.ts": None}).checker
    watched.close()
    assert not log.exists()
