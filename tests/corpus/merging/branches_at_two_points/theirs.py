def kind(size):
    if size > 9:
        return "large"
    elif size > 6:
        return "medium"
    elif size > 4:
        return "handy"
    return "small"
