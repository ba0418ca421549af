def b(text):
    x = text.strip()
    return x


def a():
    return 1


def c():
    return 3
