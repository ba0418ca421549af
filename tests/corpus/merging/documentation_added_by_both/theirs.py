def total(basket):
    """With tax."""
    return sum(basket)
