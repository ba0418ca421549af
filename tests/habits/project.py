"""The little project in which the commands of the table run: a repository with a remote, as a team might have it."""

import os
import sqlite3
import subprocess
import tarfile
from pathlib import Path
from typing import Final

ENVIRONMENT: Final = {
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONHASHSEED": "0",
    "TERM": "dumb",
    "TZ": "UTC",
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_offline": "true",
    "npm_config_update_notifier": "false",
}
_CONFIG: Final = "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"

FILES: Final = {
    ".gitignore": "build/\n*.log\n",
    "Makefile": """\
all: build/app.txt src/generated.py
build/app.txt: src/app.py
\t@mkdir -p build && cp src/app.py $@
src/generated.py: spec.json tools/gen.py
\tpython tools/gen.py
fmt:
\tpython tools/fmt.py src/app.py src/use.py
gen:
\tpython tools/gen.py
install:
\tinstall -D -m 755 tools/fmt.py bin/fmt
clean:
\trm -rf build dist
.PHONY: all fmt gen install clean
""",
    "README.md": "# Work\n\nIt adds things up.\n",
    "dist/app.js": "console.log('old');\n",
    "docs/notes.md": "one\ntwo\nthree\n",
    "lib/deep/one.py": "ONE = 1\n",
    "lib/two.txt": "pear\napple\n",
    "package.json": """\
{
  "name": "work",
  "version": "1.0.0",
  "main": "src/app.js",
  "scripts": {
    "build": "node tools/build.js",
    "test": "node --test src/"
  },
  "license": "MIT"
}
""",
    "spec.json": '{"names": ["a", "b"]}\n',
    "src/__init__.py": "",
    "src/app.js": "console.log('app');\n",
    "src/app.py": "def total(items):\n    return  sum(items)\n",
    "src/elsewhere.py": "def other():\n    return 1\n",
    "src/generated.py": "NAMES = ['a']\n",
    "src/use.py": "import os\nfrom src.app import total\n\n\ndef show():\n    return  total([1, 2])\n",
    "tests/__snapshots__/show.txt": "old\n",
    "tests/test_use.py": """\
import os
import pathlib

from src.use import show

KEPT = pathlib.Path(__file__).parent / "__snapshots__/show.txt"


def test_show():
    if os.environ.get("UPDATE"):
        KEPT.write_text(f"{show()}\\n")
    assert show() == 3
""",
    "tools/build.js": """\
const fs = require('fs');
fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/app.js', fs.readFileSync('src/app.js'));
fs.writeFileSync('dist/app.js.map', '{}');
""",
    "tools/fmt.py": """\
import pathlib
import sys

for name in sys.argv[1:]:
    path = pathlib.Path(name)
    path.write_text(path.read_text().replace('  sum', ' sum').replace('  total', ' total'))
""",
    "tools/gen.py": """\
import json

names = json.load(open('spec.json'))['names']
open('src/generated.py', 'w').write(f'NAMES = {names}\\n')
""",
    "tools/watch.py": """\
import os
import pathlib
import subprocess
import sys
import time

spec = pathlib.Path('spec.json')
before = spec.read_bytes()
pathlib.Path('build').mkdir(exist_ok=True)
pathlib.Path('build/watching').touch()
for _ in range(6000):
    if spec.read_bytes() not in (before, b''):  # the shell empties it first
        sys.exit(subprocess.call([sys.executable, 'tools/gen.py']))
    time.sleep(0.01)
""",
    "vendor/left/package.json": '{"name": "left", "version": "1.0.0", "main": "index.js"}\n',
    "vendor/left/index.js": "module.exports = 1;\n",
}
CHANGE: Final = """\
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,2 @@
-def total(items):
+def total(items, *more):
     return  sum(items)
diff --git a/lib/two.txt b/lib/two.txt
--- a/lib/two.txt
+++ b/lib/two.txt
@@ -1,2 +1,3 @@
 plum
 apple
+fig
"""


def environment(site: Path, programs: str) -> dict[str, str]:
    """The environment of a command there."""
    home = site / "home"
    places = {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / "gitconfig"), "npm_config_cache": str(home / "npm")}
    return {"PATH": programs, "GIT_CONFIG_NOSYSTEM": "1", **ENVIRONMENT, **places}


def make(site: Path, programs: str) -> None:
    """Make it: `work`, the clone of `origin.git` in which commands run, and a `home`."""
    work = site / "work"
    (site / "home").mkdir(parents=True)
    (site / "home/snapshot.sh").write_text(f"export PATH={programs}\n", encoding="utf-8")
    (site / "home/gitconfig").write_text(_CONFIG, encoding="utf-8")
    for name, text in FILES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    (work / "change.patch").write_text(CHANGE, encoding="utf-8")
    (work / "data").mkdir()
    with sqlite3.connect(work / "data/app.db") as database:
        database.execute("create table items (name text)")
    database.close()
    (work / "out").mkdir()
    with tarfile.open(work / "out/old.tar", "w") as archive:
        archive.add(work / "lib/two.txt", "lib/two.txt")
        archive.add(work / "src/app.py", "lib/three.txt")

    def git(*words: str, cwd: Path = work) -> None:
        subprocess.run(("git", *words), cwd=cwd, env=environment(site, programs), check=True, stdout=subprocess.DEVNULL)

    git("init", "--quiet", "--bare", str(site / "origin.git"), cwd=site)
    git("init", "--quiet")
    git("remote", "add", "origin", "../origin.git")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Begin")
    _change(work / "docs/notes.md", "three", "four")
    git("commit", "--quiet", "--all", "--message", "Count on")
    git("tag", "v1")
    git("switch", "--quiet", "--create", "feature")
    _change(work / "src/app.py", "items", "things")
    _change(work / "README.md", "things", "all things")
    git("commit", "--quiet", "--all", "--message", "Name things")
    git("switch", "--quiet", "main")
    _change(work / "lib/two.txt", "pear", "plum")
    git("commit", "--quiet", "--all", "--message", "Another fruit")
    (work / ".git/info/exclude").write_text("/.claude/\n", encoding="utf-8")  # as `commonhold install` has it
    git("push", "--quiet", "origin", "main", "feature")
    git("switch", "--quiet", "--create", "theirs")
    _change(work / "src/use.py", "show", "present")
    _change(work / "lib/deep/one.py", "ONE", "EIN")
    git("commit", "--quiet", "--all", "--message", "Speak German")
    git("push", "--quiet", "origin", "theirs:main")
    git("switch", "--quiet", "main")
    git("branch", "--quiet", "--delete", "--force", "theirs")
    git("update-ref", "refs/remotes/origin/main", "main")
    git("branch", "--quiet", "--set-upstream-to", "origin/main")


def _change(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    os.utime(path, (1_700_000_000, 1_700_000_000 + len(new)))
