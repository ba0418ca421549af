def greet(name, place):
    head = f"Dear {name},"
    place = f"from {place!r:>20}"
    return head
