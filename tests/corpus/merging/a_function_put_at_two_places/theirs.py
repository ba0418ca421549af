def first():
    return 1


def last():
    return 9


def added():
    return 5
