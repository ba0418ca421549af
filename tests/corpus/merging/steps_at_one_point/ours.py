STEPS = [
    "fetch",
    "build",
    "test",
]
