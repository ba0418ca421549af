class Plants:
    rows = 1

    def drain(self):
        pump.close()

    def water(self):
        pump.open()
