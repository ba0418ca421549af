STEPS = [
    "fetch",  # from the mirror
    "build",
    "test",
    "sign",
]
