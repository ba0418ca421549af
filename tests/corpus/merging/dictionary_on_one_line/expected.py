COLOURS = {"red": 1, "green": 3, "grey": 4, "blue": 2}
