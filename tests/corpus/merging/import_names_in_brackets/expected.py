from shop.stock import (
    Basket,
    Voucher,
    price_of,  # without tax
    total_of,
    weight_of,
)

BASKET = Basket(price_of)
