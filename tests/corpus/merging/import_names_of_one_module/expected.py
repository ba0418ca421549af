from shop.stock import Basket, Order, Voucher, price_of

BASKET = Basket(price_of)
