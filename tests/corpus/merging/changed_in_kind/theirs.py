limit = "1"
other = 2
