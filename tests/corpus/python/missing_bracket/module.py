def before(): pass
x = [1, 2
