"""Access tokens: only their hashes are kept, and only the owner's file counts."""

import json
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.scopes import Scope
from commonhold.workspace import tokens
from commonhold.workspace.tokens import BROWSER_SECONDS, MOST_BROWSERS, KnownTokens, exchange, issue, revoke

NOW = 1000.0


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


def test_a_token_is_known_by_its_text_alone(folder: str) -> None:
    token, text = issue(folder, Scope.AGENT, NOW, label="laptop", holder="ann")
    known = KnownTokens(folder)
    assert known.find(text, NOW) == token
    assert (token.scope, token.label, token.holder) == (Scope.AGENT, "laptop", "ann")
    for other in ("", "chd_", text[:-1], text + "x", text.replace("chd_", ""), f"chd_{token.id}_", "chd_\udc80_x"):
        assert known.find(other, NOW) is None, other


def test_the_text_is_kept_nowhere_and_the_file_is_private(folder: str) -> None:
    _, text = issue(folder, Scope.ADMIN, NOW)
    secret = text.split("_", 2)[2]
    (file,) = Path(folder).glob("tokens.json")
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert issue(folder, Scope.ADMIN, NOW)[1] != text


def test_a_token_ends_when_it_expires_or_is_revoked(folder: str) -> None:
    _, short = issue(folder, Scope.AGENT, NOW, ttl=10.0)
    token, lasting = issue(folder, Scope.AGENT, NOW)
    known = KnownTokens(folder)
    assert known.find(short, NOW + 9.9) is not None
    assert known.find(short, NOW + 10.0) is None
    assert known.find(lasting, NOW + 1e9) is not None
    assert revoke(folder, token.id) == token
    assert known.find(lasting, NOW) is None
    with pytest.raises(InputError) as fault:
        revoke(folder, token.id)
    assert fault.value.code is Code.TOKEN_UNKNOWN


def test_tokens_that_are_issued_at_once_are_all_kept(folder: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        texts = [text for _, text in threads.map(lambda _: issue(folder, Scope.AGENT, NOW), range(16))]
    known = KnownTokens(folder)
    assert all(known.find(text, NOW) for text in texts)


def _open_to_others(file: Path) -> None:
    file.chmod(0o644)


def _link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def _garble(file: Path) -> None:
    file.write_text(json.dumps([{"id": 1}]))


@pytest.mark.parametrize("spoil", [_open_to_others, _link, _garble])
def test_a_file_that_others_could_have_written_is_refused(folder: str, spoil: Callable[[Path], None]) -> None:
    _, text = issue(folder, Scope.AGENT, NOW)
    spoil(Path(folder, tokens.FILE))
    with pytest.raises(InputError) as fault:
        KnownTokens(folder).find(text, NOW)
    assert fault.value.code is Code.CONFIG_INVALID
    assert fault.value.hint


def test_there_is_a_limit(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 2)
    for _ in range(2):
        issue(folder, Scope.AGENT, NOW, ttl=5.0)
    with pytest.raises(InputError, match="2 tokens already"):
        issue(folder, Scope.AGENT, NOW)
    assert issue(folder, Scope.AGENT, NOW + 6.0)  # the expired ones make room


def test_a_token_that_is_once_admits_nothing_and_is_exchanged_once(folder: str) -> None:
    _, once = issue(folder, Scope.REVIEWER, NOW, holder="ann", ttl=600.0, is_once=True)
    known = KnownTokens(folder)
    assert known.find(once, NOW) is None
    assert known.can_exchange(once, NOW)
    with ThreadPoolExecutor(8) as threads:
        exchanged = [each for each in threads.map(lambda _: exchange(folder, once, NOW), range(8)) if each]
    ((token, text),) = exchanged
    assert known.find(text, NOW) == token
    assert (token.scope, token.holder, token.expires_at) == (Scope.REVIEWER, "ann", NOW + BROWSER_SECONDS)
    assert tokens.tokens(folder) == (token,)


def test_a_link_that_has_expired_is_exchanged_for_nothing(folder: str) -> None:
    _, once = issue(folder, Scope.ADMIN, NOW, ttl=600.0, is_once=True)
    assert exchange(folder, once, NOW + 600.0) is None
    assert exchange(folder, "chd_x_y", NOW) is None


def test_the_token_of_a_browser_ends_with_the_one_it_was_exchanged_for(folder: str) -> None:
    parent, text = issue(folder, Scope.OBSERVER, NOW, ttl=60.0)
    made = exchange(folder, text, NOW)
    assert made
    again = exchange(folder, made[1], NOW)
    assert again
    assert [each.expires_at for each, _ in (made, again)] == [NOW + 60.0, NOW + 60.0]
    known = KnownTokens(folder)
    assert known.find(made[1], NOW)
    revoke(folder, parent.id)
    assert [known.find(each, NOW) for each in (text, made[1], again[1])] == [None, None, None]


def test_a_bearer_cannot_fill_the_file_with_browsers(folder: str) -> None:
    parent, text = issue(folder, Scope.OBSERVER, NOW)
    made = [exchange(folder, text, NOW + number) for number in range(MOST_BROWSERS + 5)]
    kept = [each.id for each in tokens.tokens(folder)]
    assert kept == [parent.id, *(each[0].id for each in made[5:] if each)]
