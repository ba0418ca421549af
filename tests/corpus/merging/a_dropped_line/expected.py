class Shop:
    name = "shop"
    place = "here"
    size = 3

    def open(self):
        self.door = "open"
        self.light = "on"

    def close(self):
        self.door = "closed"
        self.alarm = "on"
