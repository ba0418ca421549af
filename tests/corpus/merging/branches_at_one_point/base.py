if kind == "a":
    run()
else:
    stop()
