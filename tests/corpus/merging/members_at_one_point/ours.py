class Basket:
    def __init__(self):
        self.items = []

    def count(self):
        return len(self.items)

    def clear(self):
        self.items = []
