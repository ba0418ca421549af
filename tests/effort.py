"""How much the tests look at: a part that covers every kind in `make test`, all of it in `make stress`.

`make stress` names Hypothesis's profile `stress`; that name is the only switch. Both functions are meant for the time
at which a test file is loaded: the profile has been chosen by then.
"""

from hypothesis import settings


def is_stress() -> bool:
    """Return whether this run looks at everything."""
    return settings.get_current_profile_name() == "stress"


def examples(share: float) -> settings:
    """Return Hypothesis's settings with `share` times the examples of the profile, at least one.

    A test that gives a plain number instead would look no harder in `make stress`.
    """
    return settings(max_examples=max(1, round(settings().max_examples * share)))
