COLOURS = {"red": 1, "green": 3, "blue": 2}
