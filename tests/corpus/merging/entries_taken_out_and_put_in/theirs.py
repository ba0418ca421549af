COLOURS = [
    "blue",
    "green",
    "grey",
    "red",
]
SIZES = ["small", "large", "huge"]
