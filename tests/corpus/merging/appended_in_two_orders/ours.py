steps = []
steps.append("fetch")
