LIMITS = {"small": 2, "large": 20}
