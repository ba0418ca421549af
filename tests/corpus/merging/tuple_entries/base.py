POINT = (1, 2)
