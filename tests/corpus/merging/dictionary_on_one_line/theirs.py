COLOURS = {"red": 1, "grey": 4, "blue": 2}
