def price(item):
    rate = 1
    return item.price


def show(item):
    return item.name
