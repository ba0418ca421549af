NAMES = [
    "fetch",
    "build"
]
