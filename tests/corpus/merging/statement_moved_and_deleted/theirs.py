def f():
    b()
    c()
