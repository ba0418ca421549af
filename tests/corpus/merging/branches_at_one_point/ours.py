if kind == "a":
    run()
elif kind == "b":
    walk()
else:
    stop()
