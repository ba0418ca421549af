import shop

print(open, 1)
