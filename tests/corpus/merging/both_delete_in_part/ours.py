third = 3
fourth = 4
