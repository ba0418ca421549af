class Basket:
    @property
    def size(self):
        """How many."""
        return self._size

    @size.setter
    def size(self, value):
        self._size = value
