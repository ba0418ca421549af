STEPS = [
    "fetch",
    "build"
]
