from shop.stock import Basket, Order, price_of

BASKET = Basket(price_of)
