class Box:
    def hold(self):
        return 1

    def size(self):
        return 2
