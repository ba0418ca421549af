class Shop:
    name = "shop"

    def open(self):
        self.door = "open"

    def close(self):
        self.door = "closed"
