LIMITS = {"small": 1, "large": 10}
