class Basket:
    def __init__(self):
        self.items = []

    def count(self):
        return len(self.items)

    def first(self):
        """The one put in first."""
        return self.items[0]

    def clear(self):
        self.items = []
