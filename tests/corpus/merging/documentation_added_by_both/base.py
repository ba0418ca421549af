def total(basket):
    return sum(basket)
