first = 10
second = 2
