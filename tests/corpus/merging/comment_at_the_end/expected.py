first = 10
second = 2
# That is all.
