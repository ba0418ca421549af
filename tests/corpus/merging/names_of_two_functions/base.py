def one(items):
    first = 1
    return items


def other(items):
    last = 1
    return items
