count = 0
total = 2
