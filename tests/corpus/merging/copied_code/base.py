def first(text):
    text = text.strip()
    return text
