from shop import basket, people, stock

__all__ = ["basket", "people", "stock"]
