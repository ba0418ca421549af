WORDS = {"and", "or"}
