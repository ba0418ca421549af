from shop.stock import Basket, Voucher, price_of

BASKET = Basket(price_of)
