width = left(margin) + right(margin, 2)
