class Basket:
    size = 1
