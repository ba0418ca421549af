"""How long a session may be silent before its connections are closed, by the present settings."""

from commonhold.config import load_settings
from commonhold.kernel.errors import InputError
from commonhold.kernel.options import IDLE_SECONDS


def idle_seconds(root: str) -> float:
    """Return that time for the working tree at `root`, in seconds."""
    try:
        return load_settings(root).idle_seconds
    except InputError:  # such settings say nothing: an agent must be able to fix them
        return IDLE_SECONDS
