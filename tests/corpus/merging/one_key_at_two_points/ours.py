LIMITS = {
    "mid": 4,
    "low": 1,
    "high": 9,
}
