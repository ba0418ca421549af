def f():
    b()
    a()
    c()
