class Basket:
    size = 1

    def total(self):
        return self.size
