def keep():
    return 1


def go():
    return 3
