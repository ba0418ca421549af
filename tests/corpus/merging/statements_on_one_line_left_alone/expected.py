width = 1; height = 2
depth = 30
weight = 40
