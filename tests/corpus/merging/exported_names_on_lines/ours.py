__all__ = [
    "basket",
    "orders",
    "stock",
]
