COLOURS = [
    "blue",
    "green",
    "red",
]
SIZES = ["small", "large"]
