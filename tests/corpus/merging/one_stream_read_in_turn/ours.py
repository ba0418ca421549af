def head(stream):
    check(stream)
    magic = stream.read(4)
