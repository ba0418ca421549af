def head(stream):
    check(stream)
