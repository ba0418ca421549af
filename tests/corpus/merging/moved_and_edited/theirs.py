def first():
    return 100


def second():
    return 2


def third():
    return 3
