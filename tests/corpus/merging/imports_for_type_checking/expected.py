from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shop.money import Coin
    from shop.people import Buyer
    from shop.stock import Basket


def total(basket: "Basket") -> int:
    return basket.total
