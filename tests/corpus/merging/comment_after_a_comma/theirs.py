STEPS = [
    "fetch",  # from the mirror
    "build",
    "sign",
]
