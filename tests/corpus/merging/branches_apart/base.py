if kind == "a":
    speed = 1
elif kind == "b":
    speed = 2
else:
    speed = 3
