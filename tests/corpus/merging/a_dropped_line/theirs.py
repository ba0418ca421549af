class Shop:
    name = "shop"
    size = 3

    def open(self):
        self.door = "open"

    def close(self):
        self.door = "closed"
        self.alarm = "on"
