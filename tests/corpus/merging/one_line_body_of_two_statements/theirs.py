if ready: width = 1; height = 20
