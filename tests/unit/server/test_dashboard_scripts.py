"""The parts of the dashboard that compute, without a browser: Node runs them."""

import json
import random
import subprocess
from pathlib import Path

import pytest
from tests.services.programs import find_or_install

from commonhold.server.network import browser

pytestmark = pytest.mark.slow

FOLDER = Path(browser.__file__).parents[1] / "dashboard"
SCRIPT = """
import { lines } from "./diff.js";
import { duration, hue, pathOf, short } from "./dom.js";
const pairs = JSON.parse(process.argv.at(-1));
console.log(JSON.stringify({
  diffs: pairs.map(([before, after]) => lines(before, after)),
  durations: [0, 89, 90, 5400, 172800].map(duration),
  paths: ["file:src/a.py#C.m", "file:docs/", "account:1"].map(pathOf),
  hues: ["a", "b", "c", "a", "d", "e", "f", "g", "h"].map(hue),
  names: ["claude:26baef9a-1111-4222-8333-444455556666/a8f0", "ann"].map(short),
}));
"""


def test_differences_keep_both_texts_and_words_are_short() -> None:
    chance = random.Random(7)
    texts = ["\n".join(chance.choices("abc", k=chance.randrange(12))) for _ in range(60)]
    pairs = [*zip(texts[::2], texts[1::2], strict=True), ("", "a\nb"), ("same", "same")]
    command = [str(find_or_install("node")), "--input-type=module", "--eval", SCRIPT, "--", json.dumps(pairs)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for (before, after), diff in zip(pairs, found["diffs"], strict=True):
        assert "\n".join(line for sign, line in diff if sign != "+") == before
        assert "\n".join(line for sign, line in diff if sign != "-") == after
    assert {sign for sign, _ in found["diffs"][-1]} == {" "}
    assert found["durations"] == ["0 s", "89 s", "2 min", "1 h 30 min", "2 days"]
    assert found["paths"] == ["src/a.py", "docs/", None]
    assert found["names"] == ["claude:26baef9a/a8f0", "ann"]
    hues = found["hues"]
    assert hues[3] == hues[0]
    apart = [abs(one - other) % 360 for at, one in enumerate(hues) for other in hues[:at] if one != other]
    assert min(min(each, 360 - each) for each in apart) >= 20, "the colours of eight holders can be told apart"
