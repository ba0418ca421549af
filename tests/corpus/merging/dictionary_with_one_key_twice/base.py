COLOURS = {"red": 1}
