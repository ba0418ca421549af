second = 2
# Nothing.
