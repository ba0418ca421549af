def price(item, currency):
    return item.price * currency.rate


def show(item):
    return item.name
