def first(text):
    text = text.strip().lower()
    return text
