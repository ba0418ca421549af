"""Many clients that commit to one repository at once: how fast, how fair, and what stops them."""
