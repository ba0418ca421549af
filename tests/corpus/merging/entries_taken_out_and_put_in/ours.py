COLOURS = [
    "green",
    "red",
]
SIZES = ["large"]
