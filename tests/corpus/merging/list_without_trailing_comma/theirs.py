STEPS = [
    "fetch",
    "build",
    "sign",
]
