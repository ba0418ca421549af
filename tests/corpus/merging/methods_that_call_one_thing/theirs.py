class Plants:
    rows = 1

    def drain(self):
        pump.close()
