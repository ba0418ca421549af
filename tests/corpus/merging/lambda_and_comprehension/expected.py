square = lambda n: n ** 2
names = [n.name for n in people]
ages = {n: 2 for n in range(3)}
