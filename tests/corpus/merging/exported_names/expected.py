from shop import basket, orders, people, stock

__all__ = ["basket", "orders", "people", "stock"]
