"""Settings of a project."""

import errno
import os
from pathlib import Path

import pytest

from commonhold.config import MOST_BYTES, MOST_ENTRIES, Settings, load_settings
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.keys import canonical
from commonhold.kernel.options import Release, TenantQuota


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORE", "NAMESPACE", "DAEMON", "DURABILITY", "TYPES"):
        monkeypatch.delenv(f"COMMONHOLD_{name}", raising=False)


def test_without_a_file_all_is_as_by_default(tmp_path: Path) -> None:
    assert load_settings(str(tmp_path)) == Settings(1800.0, 10_000_000, 30.0)


def test_either_file_may_hold_them_and_our_own_wins(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]\nname = 'x'\n")
    assert load_settings(str(tmp_path)) == Settings()
    project.write_text("[tool.commonhold]\nttl_seconds = 60\n")
    assert load_settings(str(tmp_path)) == Settings(ttl_seconds=60)
    tmp_path.joinpath("commonhold.toml").write_text("retention_days = 0.5\nmax_file_bytes = 5\n")
    assert load_settings(str(tmp_path)) == Settings(retention_days=0.5, max_file_bytes=5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ttl = 60", "no setting 'ttl'"),
        ("ttl_seconds = 0", "not a number from 0.001"),
        ("ttl_seconds = nan", "not a number"),
        ("ttl_seconds = true", "ttl_seconds = true is not a number"),
        ("ttl_seconds = '60'", "not a number"),
        ("ttl_seconds = 1e9", "not a number"),
        ("max_file_bytes = 1.5", "not a whole number"),
        ("retention_days = -1", "not a number"),
        ("ttl_seconds =", "Invalid value"),
        ("release = 'never'", "'never'"),
        ("idle_seconds = 0", "not a number from 0.001"),
        ("\udcff", "utf-8"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, text: str, why: str) -> None:
    tmp_path.joinpath("commonhold.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=why) as caught:
        load_settings(str(tmp_path))
    assert caught.value.code is Code.CONFIG_INVALID
    assert "commonhold.toml" in caught.value.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = " + "[" * 3_000, "nested too deeply"),
        ("x = " + "{a = " * 3_000, "nested too deeply"),
        ("ttl_seconds = 0x" + "f" * 5_000, "digits"),
        ("ttl_seconds = " + "1" * 5_000, "digits"),
        ("#" * (MOST_BYTES + 1), "larger than 1,000,000 bytes"),
        ("a." * 5_000 + "a = 1", "too long"),
        ("[" + "a." * 1_000 + "a]\n" + "b = 1\n" * 10_000, "too long"),
        (f"ignore = {['x'] * (MOST_ENTRIES + 1)}", "more than 10,000 entries"),
        ("[policies]\n" + "".join(f"'a:{n}' = 'pessimistic'\n" for n in range(MOST_ENTRIES + 1)), "10,000 entries"),
        (f"release = '{'x' * 10_000}'", "x …"),
    ],
    ids=["arrays", "tables", "hexadecimal", "digits", "bytes", "key", "header", "list", "table", "message"],
)
def test_what_would_cost_too_much_is_refused_by_name(tmp_path: Path, text: str, why: str) -> None:
    tmp_path.joinpath("commonhold.toml").write_text(text)
    for _ in range(2):
        with pytest.raises(InputError, match=why) as caught:
            load_settings(str(tmp_path))
        assert caught.value.code is Code.CONFIG_INVALID
        assert "commonhold.toml" in caught.value.message
        assert len(caught.value.message) < 1_000


def test_no_pipe_is_waited_for_in_the_place_of_settings(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "commonhold.toml")
    tmp_path.joinpath("pyproject.toml").symlink_to("/dev/zero")
    assert load_settings(str(tmp_path)) == Settings()


def test_no_more_is_read_than_settings_may_hold(tmp_path: Path) -> None:
    with tmp_path.joinpath("commonhold.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="larger than"):
        load_settings(str(tmp_path))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_no_descriptor_left_is_not_the_fault_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    tmp_path.joinpath("commonhold.toml").write_text("ttl_seconds = 5.0")

    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fail)
        with pytest.raises(StoreError) as caught:
            load_settings(str(tmp_path))
    assert (caught.value.code, caught.value.retryable) == (Code.STORE_BUSY, True)
    assert load_settings(str(tmp_path)).ttl_seconds == 5.0


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\ncommonhold = 1"])
def test_a_table_must_be_a_table(tmp_path: Path, text: str) -> None:
    tmp_path.joinpath("pyproject.toml").write_text(text)
    if text == "tool = 1":
        assert load_settings(str(tmp_path)) == Settings()
    else:
        with pytest.raises(InputError, match="is not a table"):
            load_settings(str(tmp_path))


def test_the_environment_wins_over_files_and_the_caller_over_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("commonhold.toml").write_text('store = "redis://file"\nnamespace = "shop"\n')
    monkeypatch.setenv("COMMONHOLD_STORE", "redis://environment")
    monkeypatch.setenv("COMMONHOLD_DAEMON", "off")
    monkeypatch.setenv("COMMONHOLD_TYPES", "off")
    found = load_settings(str(tmp_path))
    assert (found.store, found.namespace, found.daemon) == ("redis://environment", "shop", False)
    assert (found.types, load_settings(str(tmp_path), types="on").types) == ("off", "on")
    chosen = load_settings(str(tmp_path), store="redis://caller", daemon=True, namespace=None)
    assert (chosen.store, chosen.namespace, chosen.daemon) == ("redis://caller", "shop", True)


def test_a_switch_in_the_environment_is_on_or_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "perhaps")
    with pytest.raises(InputError, match="'perhaps' is neither on nor off"):
        load_settings(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("store = 1", "store = 1 is not a text"),
        ("store = 'mysql://ann:secret@host'", "there is no store of the kind 'mysql'; it can be postgresql://"),
        ("store = 'sqlite:///tmp/x'", "store names no server"),
        ("daemon = 'yes'", "neither true nor false"),
        ("capabilities = ['gpu']", "is not a table such as"),
        ("capabilities = {'a:*' = 'gpu'}", "= 'gpu' is not a list of texts"),
        ("tenants = 3", "is not a table of tables such as"),
        ("tenants = {acme = 3}", "is not a table of tables such as"),
        ("[tenants.acme]\nram = '8g'", "'acme' has 'ram'; there are cpus, max_sessions, memory"),
        ("[tenants.acme]\nmemory = 8", "tenants.acme.memory = 8 is no size such as 512m or 8g"),
        ("[tenants.acme]\nmemory = '8'", "tenants.acme.memory = '8' is no size such as 512m or 8g"),
        ("[tenants.acme]\nmax_sessions = 1.5", "tenants.acme.max_sessions = 1.5 is not a whole number"),
        ("[tenants.acme]\ncpus = 0", "tenants.acme.cpus = 0 is not a number from 0.1 to 100,000"),
        ("durability = 'none'", 'neither "full" nor "normal"'),
        ("types = true", 'neither "on" nor "off"'),
        ("policies = 1", "not a table of patterns"),
        ("policies = {'account:*' = 'strict'}", "there are optimistic, pessimistic"),
        ("policies = {'account:' = 'pessimistic'}", "'account:' is not a key"),
        ("merge = true", "not a table of patterns"),
        ("merge = 'always'", "merge = 'always'; there are proven, never"),
        ("merge = {'a.py' = 'always'}", "'a.py' is 'always'; there are proven, never"),
        ("merge = {'src/*.py' = 'never'}", "has a wildcard"),
        ("reads = false", "not a table of patterns"),
        ("reads = 'always'", "there are notice, check"),
        ("reads = {'a.py' = 'never'}", "'a.py' is 'never'; there are notice, check"),
        *(
            (f"writable = ['{folder}']", "is no folder inside the repository")
            for folder in ("/var/cache", "~/x", "a/../..", "./", ".git", "./.git/hooks", ".GIT//x/", ".commonhold/git")
        ),
    ],
)
def test_each_kind_of_setting_is_checked(tmp_path: Path, text: str, why: str) -> None:
    tmp_path.joinpath("commonhold.toml").write_text(text)
    with pytest.raises(InputError, match=why) as caught:
        load_settings(str(tmp_path))
    assert caught.value.code is Code.CONFIG_INVALID


def test_policies_are_by_pattern(tmp_path: Path) -> None:
    text = '[policies]\n"account:*" = "pessimistic"\n"account:test:*" = "optimistic"\n"migrations/" = "pessimistic"\n'
    tmp_path.joinpath("commonhold.toml").write_text(text)
    policies = load_settings(str(tmp_path)).options().policies
    keys = ("account:1", "account:test:1", "file:migrations/1.sql", "file:src/a.py", "order:1")
    assert [policies.of(canonical(key)).value for key in keys] == [
        *("pessimistic", "optimistic", "pessimistic", "optimistic", "optimistic")
    ]


def test_quotas_are_tables_by_tenant(tmp_path: Path) -> None:
    text = '[tool.commonhold.tenants.acme]\nmax_sessions = 0\nmemory = "8G"\n[tool.commonhold.tenants."*"]\ncpus = 4'
    tmp_path.joinpath("pyproject.toml").write_text(text)
    assert load_settings(str(tmp_path)).options().tenants == {
        "acme": TenantQuota(max_sessions=0, memory_bytes=8 << 30),
        "*": TenantQuota(cpus=4.0),
    }


def test_capabilities_are_words_by_pattern_of_session_names(tmp_path: Path) -> None:
    tmp_path.joinpath("commonhold.toml").write_text('capabilities = {"claude:*" = ["review"], "gpu-*" = []}')
    assert load_settings(str(tmp_path)).options().capabilities == {"claude:*": ("review",), "gpu-*": ()}


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("", ["a.py", "src/b.py"]),
        ('merge = "proven"', ["a.py", "src/b.py"]),
        ('merge = "never"', []),
        ('[merge]\n"src/" = "never"', ["a.py"]),
        ('[merge]\n"./" = "never"\n"src/b.py" = "proven"', ["src/b.py"]),
    ],
)
def test_what_may_be_merged_is_said_for_all_keys_or_by_pattern(tmp_path: Path, text: str, merged: list[str]) -> None:
    tmp_path.joinpath("commonhold.toml").write_text(text)
    policies = load_settings(str(tmp_path)).options().policies
    assert [path for path in ("a.py", "src/b.py") if policies.merges(canonical(f"file:{path}"))] == merged


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        ("", []),
        ('reads = "notice"', []),
        ('reads = "check"', ["a.py", "src/b.py"]),
        ('[reads]\n"src/" = "check"', ["src/b.py"]),
        ('[reads]\n"./" = "check"\n"src/b.py" = "notice"', ["a.py"]),
    ],
)
def test_what_has_to_be_read_again_is_said_for_all_keys_or_by_pattern(
    tmp_path: Path, text: str, checked: list[str]
) -> None:
    tmp_path.joinpath("commonhold.toml").write_text(text)
    policies = load_settings(str(tmp_path)).options().policies
    assert [path for path in ("a.py", "src/b.py") if policies.wants_reread(canonical(f"file:{path}#f"))] == checked


def test_how_long_edits_stay_leased_can_be_chosen(tmp_path: Path) -> None:
    tmp_path.joinpath("commonhold.toml").write_text('release = "edit"\nidle_seconds = 5\n')
    options = load_settings(str(tmp_path)).options()
    assert (options.release, options.idle_seconds) == (Release.EDIT, 5)
