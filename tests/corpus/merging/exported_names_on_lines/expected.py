__all__ = [
    "basket",
    "orders",
    "people",  # buyers, mostly
    "stock",
]
