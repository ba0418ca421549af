NAMES = [
    "fetch",
    "build",
    "sign",
    "test",
]
