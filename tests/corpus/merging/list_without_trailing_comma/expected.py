STEPS = [
    "fetch",
    "build",
    "sign",
    "test",
]
