COLOURS = ["blue"]
run()
