width = 10; height = 2
depth = 3; weight = 40
