from shop.stock import (
    Basket,
    total_of,  # with tax
    weight_of,
)

BASKET = Basket()
