LIMITS = {
    "low": 1,
    "high": 9,
    "mid": 5,
}
