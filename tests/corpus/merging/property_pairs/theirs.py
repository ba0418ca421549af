class Basket:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        value = int(value)
        self._size = value
