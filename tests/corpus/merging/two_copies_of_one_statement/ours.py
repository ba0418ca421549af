count = 0
total = 1
