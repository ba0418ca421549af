from shop.stock import (
    Basket,
    price_of,  # without tax
    total_of,
)

BASKET = Basket(price_of)
