"""The demo: real agent processes edit one repository, without Commonhold and with it, and what is lost is counted."""

from commonhold.demo.options import DemoOptions

__all__ = ["DemoOptions", "run"]


def run(options: DemoOptions) -> int:
    """Run the demo; its exit status."""
    # Loaded here: the agents of the demo import this package too, and need nothing of the show.
    from commonhold.demo.main import show  # noqa: PLC0415

    return show(options)
