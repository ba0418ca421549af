from shop.stock import (
    Basket,
)

BASKET = Basket()
