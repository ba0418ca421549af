COLOURS = {"red": 1, "green": 2}
