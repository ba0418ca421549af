def show(item):
    return item.name


def price(item):
    return item.price
