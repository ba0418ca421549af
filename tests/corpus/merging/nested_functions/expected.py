def outer(items):
    def inner(item):
        """Itself."""
        return item

    label = "all of them"
    return [inner(item) for item in items]
