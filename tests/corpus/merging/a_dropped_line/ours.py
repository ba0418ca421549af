class Shop:
    name = "shop"
    place = "here"

    def open(self):
        self.door = "open"
        self.light = "on"

    def close(self):
        self.door = "closed"
