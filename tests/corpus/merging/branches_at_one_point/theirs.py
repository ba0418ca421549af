if kind == "a":
    run()
elif kind == "c":
    swim()
else:
    stop()
