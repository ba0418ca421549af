NAMES = [
    "fetch",
    "build",
    "test"
]
