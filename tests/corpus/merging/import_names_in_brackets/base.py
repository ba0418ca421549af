from shop.stock import (
    Basket,
    price_of,  # without tax
)

BASKET = Basket(price_of)
