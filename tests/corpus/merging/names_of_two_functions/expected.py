def one(items):
    first = 100
    return items


def other(items):
    last = 1
    first = last
    return items, first
