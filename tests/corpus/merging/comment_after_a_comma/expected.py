NAMES = [
    "fetch",  # from the mirror
    "build",
    "test",
    "sign",
]
