from shop.stock import (
    Basket,
    Voucher,
    price_of,  # without tax
    weight_of,
)

BASKET = Basket(price_of)
