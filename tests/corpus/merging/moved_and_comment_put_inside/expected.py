def show(item):
    return item.name


def price(item):
    # with tax
    return item.price
