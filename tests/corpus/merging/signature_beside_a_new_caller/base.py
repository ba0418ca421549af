def price(item):
    return item.price


def show(item):
    return item.name
