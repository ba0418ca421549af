def f(x):
    return x


def g(x):
    return f(x)
