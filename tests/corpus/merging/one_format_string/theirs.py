label = f"{name} of {place.upper()}"
