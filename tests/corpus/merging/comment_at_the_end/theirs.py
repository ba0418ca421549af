first = 1
second = 2
# That is all.
