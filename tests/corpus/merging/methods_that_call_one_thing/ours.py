class Plants:
    rows = 1

    def water(self):
        pump.open()
