"""How long somebody may be silent before nothing is kept open for it, as the settings say at the time."""

from commonhold.app.options import IDLE_SECONDS
from commonhold.config import load_settings
from commonhold.domain.errors import InputError


def idle_seconds(root: str) -> float:
    """For the working tree at `root`."""
    try:
        return load_settings(root).idle_seconds
    except InputError:  # settings that cannot be read say nothing: whoever mends them must be let do so
        return IDLE_SECONDS
