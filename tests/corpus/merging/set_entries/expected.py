WORDS = {"and", "nor", "not", "or"}
