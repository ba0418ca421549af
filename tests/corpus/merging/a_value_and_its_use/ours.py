def total(prices):
    rate = 0.2
    extra = 1
    note = "sum"
    return sum(prices) + extra
