def greet(name, place):
    head = f"Dear {name.title()},"
    place = f"from {place!r:>20}"
    return head
