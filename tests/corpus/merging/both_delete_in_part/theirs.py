first = 1
fourth = 4
