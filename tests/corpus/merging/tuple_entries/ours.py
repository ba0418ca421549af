POINT = (1, 2, 3)
