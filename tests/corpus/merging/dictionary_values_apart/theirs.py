LIMITS = {"small": 1, "large": 20}
