COLOURS = [
    "green",
    "grey",
    "red",
]
SIZES = ["large", "huge"]
