COLOURS = {"red": 1, "green": 3}
