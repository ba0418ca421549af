from shop.stock import (
    Basket,
    total_of,  # with tax
)

BASKET = Basket()
