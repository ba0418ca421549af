import pytest

from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.values import MAX_VALUE_LENGTH, check_number, check_value


@pytest.mark.parametrize("text", [None, "", "ten", "x" * MAX_VALUE_LENGTH, "two\nlines"])
def test_text_can_be_carried(text: str | None) -> None:
    assert check_value(text) == text


@pytest.mark.parametrize("text", ["x" * (MAX_VALUE_LENGTH + 1), "\ud800", "a\0b"])
def test_what_is_too_long_or_no_text_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        check_value(text)
    assert caught.value.code is Code.TEXT_INVALID


@pytest.mark.parametrize("number", [-1, 2**63, 10**40])
def test_what_no_store_can_have_given_out_is_no_version(number: int) -> None:
    with pytest.raises(UsageError, match="is no version and no fence"):
        check_number(number)


@pytest.mark.parametrize("number", [0, 1, 2**63 - 1])
def test_a_version_is_any_other(number: int) -> None:
    assert check_number(number) == number
