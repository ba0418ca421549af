width = left(margin) + right(margin)
