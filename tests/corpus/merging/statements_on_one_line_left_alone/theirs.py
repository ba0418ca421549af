width = 1; height = 2
depth = 3
weight = 40
