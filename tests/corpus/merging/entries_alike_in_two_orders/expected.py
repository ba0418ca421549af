__all__ = [
    "one",
    "two",
    "six",
]
