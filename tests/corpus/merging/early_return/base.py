def pay(order):
    charge(order)
