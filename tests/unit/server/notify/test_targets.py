"""Targets of notifications: only safe addresses, in a private file, with secrets that are shown once."""

import stat
from pathlib import Path

import pytest

from commonhold.kernel.errors import Code, CommonholdError
from commonhold.server.notify.decisions import Kind
from commonhold.server.notify.targets import DESKTOP, add, check_address, check_url, remove, targets_file

URL = "https://hooks.example.org/services/T0/B0?key=secret"


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://example.org/x", "https://", "example.org", "http://example.org/x", "https://ann:pw@example.org/"),
        *(
            "https://example.org/#x",
            "https://example.org/\nHost: x",
            "https://exämple.org/",
            "https://[::1/",
            "file:///etc",
        ),
        *("https://example.org:0/", "https://example.org:x/", "gopher://127.0.0.1:6379/_FLUSHALL", "https://a b/"),
    ],
)
def test_a_url_that_is_unsafe_is_refused(url: str) -> None:
    with pytest.raises(CommonholdError) as fault:
        check_url(url, is_private=False)
    assert fault.value.code is Code.ADDRESS_UNSAFE


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "::1", "10.0.0.1", "172.16.9.9", "192.168.1.1", "fd00::1", "100.64.0.1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::"),
    ],
)
def test_an_address_of_a_private_network_needs_consent(address: str) -> None:
    with pytest.raises(CommonholdError) as fault:
        check_address(address, is_private=False)
    assert fault.value.code is Code.ADDRESS_UNSAFE
    check_address(address, is_private=True)


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "::ffff:169.254.169.254"],  # noqa: S104
)
@pytest.mark.parametrize("is_private", [False, True])
def test_addresses_that_hand_out_credentials_are_never_called(address: str, *, is_private: bool) -> None:
    with pytest.raises(CommonholdError) as fault:
        check_address(address, is_private=is_private)
    assert fault.value.code is Code.ADDRESS_UNSAFE


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_public_addresses_are_called(address: str) -> None:
    check_address(address, is_private=False)
    check_url(URL, is_private=False)


def test_targets_are_kept_in_a_private_file(tmp_path: Path) -> None:
    made = add(str(tmp_path), URL, [Kind.PARTIAL_WORK], 7)
    desktop = add(str(tmp_path), DESKTOP, [], 9)
    file = targets_file(str(tmp_path))

    assert file.read() == (made, desktop)
    assert stat.S_IMODE(Path(file.path).stat().st_mode) == 0o600
    assert made.secret.startswith("whsec_")
    assert "secret" not in made.place
    assert "T0" not in made.place
    assert desktop.kinds == tuple(Kind)
    assert remove(str(tmp_path), made.id) == made
    with pytest.raises(CommonholdError) as fault:
        remove(str(tmp_path), made.id)
    assert fault.value.code is Code.NOTIFICATION_UNKNOWN


def test_a_file_of_targets_that_others_could_have_written_is_refused(tmp_path: Path) -> None:
    add(str(tmp_path), DESKTOP, [], 0)
    Path(targets_file(str(tmp_path)).path).chmod(0o644)
    with pytest.raises(CommonholdError) as fault:
        targets_file(str(tmp_path)).read()
    assert fault.value.code is Code.CONFIG_INVALID
