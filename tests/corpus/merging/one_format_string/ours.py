label = f"{name.title()} of {place}"
