NAMES = [
    "fetch",  # from the mirror
    "build",
    "sign",
]
