if ready: width = 10; height = 2
