STEPS = [
    "fetch",
    "build",
    "test"
]
