NAMES = [
    "fetch",
    "build",
    "sign",
]
