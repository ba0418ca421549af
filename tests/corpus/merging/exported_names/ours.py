from shop import basket, orders, stock

__all__ = ["basket", "orders", "stock"]
