first = 1
shared = 1
run()
