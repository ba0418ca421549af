LIMITS = {"small": 2, "large": 10}
