from shop.stock import Basket, price_of

BASKET = Basket(price_of)
