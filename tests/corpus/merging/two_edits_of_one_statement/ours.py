width = left(margin, 1) + right(margin)
