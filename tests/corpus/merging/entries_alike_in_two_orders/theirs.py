__all__ = [
    "one",
    "six",
    "two",
]
