COLOURS = []
run()
