"""What every test shares: how hard Hypothesis looks, and that no test leaves a daemon behind."""

import os

from hypothesis import settings

pytest_plugins = ("tests.services.fixtures",)

# Speed varies on shared machines: the timeout of pytest is the only deadline.
# The suite looks at the same examples each time: what fails is due to the change. `make stress` looks for new ones.
settings.register_profile("suite", deadline=None, print_blob=True, derandomize=True)
settings.register_profile(
    "stress", settings.get_profile("suite"), derandomize=False, max_examples=2_000, stateful_step_count=200
)
settings.load_profile("suite")

# A test that wants a daemon says so, and ends it.
os.environ["COMMONHOLD_DAEMON"] = "off"
# A test that wants a type checker to be asked says so: starting one takes longer than most tests.
os.environ["COMMONHOLD_TYPES"] = "off"
