def first(text):
    text = text.strip().lower()
    return text


def second(text):
    text = text.strip()
    return text
