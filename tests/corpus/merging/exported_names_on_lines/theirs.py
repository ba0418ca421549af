__all__ = [
    "basket",
    "people",  # buyers, mostly
    "stock",
]
