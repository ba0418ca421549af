"""The names of write slots. A leaf module: showing leases must not load the module of keys."""

SCHEME = "slot"


def path_of_slot(key: str) -> str | None:
    """The path of the file that a slot is for; None for any other key."""
    scheme, _, rest = key.partition(":")
    if scheme != SCHEME:
        return None
    path = rest.rpartition(":")[2]
    for sign, escape in (("*", "%2A"), ("?", "%3F"), ("#", "%23"), (":", "%3A"), ("%", "%25")):
        path = path.replace(escape, sign)
    return path
