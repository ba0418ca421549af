def second():
    return 2


def third():
    return 3


def first():
    return 100
