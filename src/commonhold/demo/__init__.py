"""The demo: real agent processes edit one repository, without Commonhold and with it, and lost edits are counted."""

from commonhold.demo.options import DemoOptions

__all__ = ["DemoOptions", "run"]


def run(options: DemoOptions) -> int:
    """Run the demo; return its exit status."""
    # Loaded here: the agents of the demo import this package too, and need none of the display.
    from commonhold.demo.main import show  # noqa: PLC0415

    return show(options)
