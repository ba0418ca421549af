COLOURS = ["blue", "red"]
run()
