class Basket:
    def __init__(self):
        self.items = []

    def clear(self):
        self.items = []
