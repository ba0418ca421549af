def one(items):
    first = 100
    return items


def other(items):
    last = 1
    return items
