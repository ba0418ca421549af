WORDS = {"and", "not", "or"}
