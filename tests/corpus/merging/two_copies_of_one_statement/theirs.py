count = 0
count = 0
total = 2
