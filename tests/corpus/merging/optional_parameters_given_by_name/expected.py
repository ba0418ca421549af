def f(x, a=0, b=0):
    return x


def h(x):
    return f(x, b=2)


def g(x):
    return f(x, a=1)
