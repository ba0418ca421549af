def head(stream):
    check(stream)
    size = stream.read(2)
