def price(item):
    # with tax
    return item.price


def show(item):
    return item.name
