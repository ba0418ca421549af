def kind(size):
    if size > 9:
        return "large"
    elif size > 8:
        return "rather large"
    elif size > 6:
        return "medium"
    return "small"
