def total(prices):
    rate = 20
    extra = 1
    note = "sum"
    return sum(prices) * rate + extra
