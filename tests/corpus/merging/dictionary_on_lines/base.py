COLOURS = {
    "red": 1,
    "blue": 2
}
