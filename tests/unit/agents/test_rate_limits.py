"""How long a limit lasts, by the words of real error messages."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.agents.rate_limits import LONGEST_WAIT_SECONDS, asks_for_payment, says_limit, wait_seconds

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOUR = 3600.0


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (f"Claude AI usage limit reached|{int(NOW.timestamp()) + 60}", 60.0),
        ("Claude AI usage limit reached|1762952400", None),
        ("You've hit your limit · resets 3pm (Europe/Berlin)", 2 * HOUR),
        ("You've hit your weekly limit · resets Dec 3, 9am (UTC)", 69 * HOUR),
        ("Claude usage limit reached. Your limit will reset at 11:30am (UTC).", 23.5 * HOUR),
        ("Limit reached · resets 12pm (Nowhere/Atlantis)", 24 * HOUR),
        ("You've hit your usage limit. Upgrade to Pro, or try again at 3:05 PM.", 3 * HOUR + 300),
        ("You've hit your usage limit. Try again at Dec 1st, 2026 12:15 AM.", 12.25 * HOUR),
        ("You've hit your usage limit. Try again in 3 hours 42 minutes.", 3.7 * HOUR),
        ("Rate limit reached for gpt-5: Please try again in 1.5s.", 1.5),
        ("You have exhausted your capacity on this model. Your quota will reset after 1h30m5s.", 1.5 * HOUR + 5),
        ("Please retry in 250ms: quota exceeded", 0.25),
        ("Resource has been exhausted (e.g. check quota).", None),
        ("You've hit your usage limit. Try again at Feb 31st, 2027 1:00 AM.", None),
        ("You've hit your usage limit. Try again at Dec 1st, 9999 1:00 AM.", None),
        ("rate limit, try again in 5 parsecs", None),
    ],
)
def test_the_wait_that_an_error_names(error: str, expected: float | None) -> None:
    assert says_limit(error)
    assert wait_seconds(error, None, NOW) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("Credit balance is too low", True),
        ("You exceeded your current quota, please check your plan and billing details.", True),
        ("402 Payment Required: insufficient credits", True),
        ("429 Too Many Requests", False),
    ],
)
def test_a_limit_that_only_a_payment_ends(error: str, *, expected: bool) -> None:
    assert says_limit(error)
    assert asks_for_payment(error) is expected


@pytest.mark.parametrize("error", ["write failed: Disk quota exceeded (os error 122)", "no such file"])
def test_other_errors_are_no_limits(error: str) -> None:
    assert not says_limit(error)


def test_an_instant_beside_the_message_goes_first() -> None:
    assert wait_seconds("try again in 5 minutes", NOW.timestamp() + 7, NOW) == 7.0
    assert wait_seconds("try again in 5 minutes", NOW.timestamp() - 7, NOW) is None
    assert wait_seconds("", NOW.timestamp() + LONGEST_WAIT_SECONDS + 1, NOW) is None


def test_a_time_of_day_without_a_zone_is_that_of_this_machine() -> None:
    here = NOW.astimezone(ZoneInfo("Asia/Kolkata"))  # 17:30
    assert wait_seconds("Limit reached · resets 6pm", None, here) == timedelta(minutes=30).total_seconds()


@given(
    st.text(max_size=60), st.sampled_from(["resets ", "try again at ", "try again in ", "limit reached|"]), st.text()
)
def test_no_words_raise(before: str, verb: str, after: str) -> None:
    says_limit(before + verb + after)
    found = wait_seconds(before + verb + after, None, NOW)
    assert found is None or 0 < found <= LONGEST_WAIT_SECONDS


@given(
    st.from_regex(r"\Aresets [A-Za-z]{3} \d{1,2}, \d{1,4} ?\d{1,2}(:\d\d)?(am|pm) \([A-Za-z/.0-9-]{1,12}\)\Z")
    | st.from_regex(r"\Atry again in (\d{1,9} [a-z]{1,3} ?){1,5}\Z")
)
def test_no_time_raises(words: str) -> None:
    found = wait_seconds(words, None, NOW)
    assert found is None or 0 < found <= LONGEST_WAIT_SECONDS
