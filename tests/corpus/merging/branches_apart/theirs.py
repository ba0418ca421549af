if kind == "a":
    speed = 1
elif kind == "b":
    speed = 2
else:
    height = 30
    speed = 3
