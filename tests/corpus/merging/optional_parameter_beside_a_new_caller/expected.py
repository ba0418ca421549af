def price(item, currency=None):
    rate = 1
    return item.price


def show(item):
    return item.name, price(item)
