LIMITS = {
    "low": 1,
    "high": 9,
}
