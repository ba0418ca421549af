POINT = (1, 2, 4)
