STEPS = [
    "fetch",
    "build",
]
