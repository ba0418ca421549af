COLOURS = {
    "red": 1,
    # as grass
    "green": 3,
    "blue": 2
}
