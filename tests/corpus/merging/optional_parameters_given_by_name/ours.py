def f(x, a=0):
    return x


def g(x):
    return f(x, a=1)
