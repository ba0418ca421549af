COLOURS = {
    "red": 1,
    "blue": 2,
    "grey": 4,  # as dust
}
