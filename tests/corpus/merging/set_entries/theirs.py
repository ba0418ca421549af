WORDS = {"and", "nor", "or"}
