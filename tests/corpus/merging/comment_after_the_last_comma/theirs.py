from shop.stock import (
    Basket,
    weight_of,
)

BASKET = Basket()
