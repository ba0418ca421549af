steps = []
steps.append("build")
