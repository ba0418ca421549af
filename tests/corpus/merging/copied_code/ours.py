def first(text):
    text = text.strip()
    return text


def second(text):
    text = text.strip()
    return text
