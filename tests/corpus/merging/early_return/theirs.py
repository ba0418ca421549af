def pay(order):
    log(order)
    charge(order)
