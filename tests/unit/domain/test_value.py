import pytest

from commonhold.domain.errors import Code, InputError
from commonhold.domain.value import MAX_VALUE_LENGTH, check_value


@pytest.mark.parametrize("text", [None, "", "ten", "x" * MAX_VALUE_LENGTH, "two\nlines"])
def test_text_can_be_carried(text: str | None) -> None:
    assert check_value(text) == text


@pytest.mark.parametrize("text", ["x" * (MAX_VALUE_LENGTH + 1), "\ud800", "a\0b"])
def test_what_is_too_long_or_no_text_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        check_value(text)
    assert caught.value.code is Code.TEXT_INVALID
