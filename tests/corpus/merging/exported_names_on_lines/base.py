__all__ = [
    "basket",
    "stock",
]
