COLOURS = {
    "red": 1,
    # as grass
    "green": 3,
    "blue": 2,
    "grey": 4,  # as dust
}
