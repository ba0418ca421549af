steps = []
