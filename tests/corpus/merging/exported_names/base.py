from shop import basket, stock

__all__ = ["basket", "stock"]
