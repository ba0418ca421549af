def pay(order):
    if order.is_free:
        return
    charge(order)
