if kind == "a":
    speed = 10
elif kind == "b":
    speed = 2
else:
    speed = 3
