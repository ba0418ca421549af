label = f"{name} of {place}"
