def greet(name, place):
    head = f"Dear {name},"
    place = f"from {place!r:>10}"
    return head
