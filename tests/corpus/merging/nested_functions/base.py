def outer(items):
    def inner(item):
        return item

    label = "all"
    return [inner(item) for item in items]
