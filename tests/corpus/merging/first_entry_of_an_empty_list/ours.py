COLOURS = ["red"]
run()
