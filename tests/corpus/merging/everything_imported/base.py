import shop

print(open)
