class Box:
    def hold(self):
        return 5

    def size(self):
        return 2
