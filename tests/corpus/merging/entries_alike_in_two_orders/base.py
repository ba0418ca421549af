__all__ = [
    "one",
]
